import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Foundation
import TestTLS
import Testing

extension MessageChannel<UInt32> {
  fileprivate static var numbers: Self { .init(9, .reliableOrdered) }
}

/// The path of nginx, or nil if it is not installed.
private let nginx =
  (ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":")
  + ["/usr/local/sbin", "/usr/sbin"])
  .map { URL(filePath: String($0)).appending(path: "nginx") }
  .first { FileManager.default.isExecutableFile(atPath: $0.path) }

/// Hosts behind nginx, with the configuration in the documentation.
@Suite(
  .timeLimit(.minutes(2)), .enabled(if: PythonBrowser.python != nil, "python3 is not on the PATH"),
  .enabled(if: TestCertificate.program != nil, "openssl is missing"),
  .enabled(if: nginx != nil, "nginx is missing"))
struct ProxyTests {
  private struct Echo: Codable {
    var violations: [String]
    var echoed: Int
    var streams: Int
    var reason: String?
    var status: Int
  }

  @Test(arguments: [false, true])
  func `a browser plays through nginx, whether the host uses TLS or not`(
    isTLS: Bool
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "carom-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = try TestCertificate.files.get()
    let (path, keyPath) = (folder.path + "/cert.pem", folder.path + "/key.pem")
    try Data(files.certificate).write(to: URL(filePath: path))
    try Data(files.key).write(to: URL(filePath: keyPath))
    let code = try JoinCode("K7QM-2XRT")
    let certificate = try TLSCertificate(certificateFile: path, keyFile: keyPath)
    let page = BrowserOptions(
      pages: ["/": .init(text: "page\n")], hostNames: ["game.example"],
      encryption: isTLS ? .init(certificate) : nil)
    try await Session.host(
      as: makePeer("host"), on: [.loopback4], over: .webSocket,
      security: isTLS ? .code(code) : .none, browsers: page, loops: 1
    ) { session, port in
      let documentation = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Sources/Carom/Carom.docc/Browsers.md")
      let arguments =
        [try #require(nginx).path, documentation.path, path, keyPath]
        + (isTLS ? ["--tls", "--code", code.text] : [])
      async let end = PythonBrowser.run("proxy.py", port: port, arguments)
      for await event in session.events {
        guard case .joined(let browser) = event else { continue }
        #expect(browser.protection.isBelow == isTLS)
        var numbers: [UInt32] = []
        var incoming = session.messages(on: .numbers).makeAsyncIterator()
        // The browser opens another WebSocket after the first half at the latest.
        for half in [UInt32(0)..<50, 50..<100] {
          for number in half { try await browser.send(number, on: .numbers) }
          while numbers.count < half.upperBound, let received = await incoming.next() {
            numbers.append(received.message)
          }
        }
        #expect(numbers == Array(0..<100))
        await browser.close(Goodbye(.finished))
        break
      }
      let echo = try JSONDecoder().decode(Echo.self, from: await end)
      #expect(echo.violations == [] && echo.echoed == 100 && echo.streams > 1)
      #expect(echo.reason == "finished" && echo.status == 200)
    }
  }
}
