import Carom
import CaromTransport
import Foundation
import TestTLS
import Testing

@testable import air_hockey

@Suite struct GamePageTests {
  /// Calls `body` with a new folder.
  private func withFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }

  @Test func `a page has the files of its folder that a browser can use`() throws {
    try withFolder { folder in
      for name in ["index.html", "game.js", "game.wasm", "package.json", "notes"] {
        try Data(name.utf8).write(to: folder.appending(path: name))
      }
      let pages = try GamePage(path: folder.path).options.pages
      #expect(pages.keys.sorted() == ["/", "/game.js", "/game.wasm", "/index.html"])
      #expect(pages["/"] == .init(Array("index.html".utf8), mediaType: "text/html; charset=utf-8"))
      #expect(pages["/game.js"]?.mediaType == "text/javascript; charset=utf-8")
      #expect(pages["/game.wasm"]?.mediaType == "application/wasm")
    }
  }

  @Test func `a folder without a page is an error that says what to do`() throws {
    try withFolder { folder in
      let failure = #expect(throws: CommandFailure.self) { try GamePage(path: folder.path) }
      #expect(failure?.status == .ioFailed)
      #expect(failure?.line.contains("make wasm") == true)
    }
  }

  @Test func `the page is looked for beside an installed program and in its build folder`() {
    let installed = GamePage.defaultFolders(of: URL(filePath: "/usr/local/bin/air-hockey"))
    #expect(installed.map(\.path) == ["/usr/local/share/air-hockey"])
    let built = GamePage.defaultFolders(of: URL(filePath: "/a/.build/x86/release/air-hockey"))
    #expect(built.map(\.path) == ["/a/.build/x86/share/air-hockey", "/a/.build/page"])
  }

  @Test func `a browser finds the host at its IPv4 addresses`() {
    var loopback = Interface(name: "lo", index: 1)
    loopback.isLoopback = true
    loopback.addresses = [
      .init(.loopback4, prefixLength: 8), .init(.loopback6, prefixLength: 128),
    ]
    var network = Interface(name: "eth0", index: 2)
    network.addresses = [.init(.v4(0xC0A8_0105), prefixLength: 24)]
    #expect(GamePage.addresses(on: [loopback], port: 7) == ["http://127.0.0.1:7/"])
    #expect(GamePage.addresses(on: [loopback, network], port: 7) == ["http://192.168.1.5:7/"])
    #expect(GamePage.addresses(on: [], port: 7) == [])
  }

  @Test(.enabled(if: TestCertificate.program != nil, "openssl is missing"))
  func `over TLS, the address has the certificate's name, and the code in its fragment`() throws {
    var loopback = Interface(name: "lo", index: 1)
    loopback.isLoopback = true
    loopback.addresses = [.init(.loopback4, prefixLength: 8)]
    var network = Interface(name: "eth0", index: 2)
    network.addresses = [.init(.v4(0xC0A8_0105), prefixLength: 24)]
    let (certificate, code) = (try TestCertificate.load(), try JoinCode("k7qm2xrt"))
    let addresses = GamePage.addresses(
      on: [loopback, network], port: 7, certificate: certificate, code: code)
    #expect(addresses == ["https://game.example:7/#code=K7QM-2XRT"])
    // Nobody asks for the name of another computer on the loopback interface.
    #expect(
      GamePage.addresses(on: [loopback], port: 7, certificate: certificate)
        == ["https://127.0.0.1:7/"])
  }
}
