import Foundation
import Testing

/// Hosts that run for weeks: in an exhibit, and with several tables.
@Suite(.timeLimit(.minutes(1))) struct ExhibitPlayTests {
  @Test(arguments: [["--bot", "--kiosk"], ["--tables", "2"]])
  func `a host that is told to end sends its players the score`(options: [String]) async throws {
    let page = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID())")
    try FileManager.default.createDirectory(at: page, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: page) }
    try Data("a page".utf8).write(to: page.appending(path: "index.html"))
    let host = try RunningGame(
      [
        "host", "--unlisted", "--interface", "lo", "--json", "--name", "Maya", "--browser",
        "--security", "none", "--page", page.path,
      ] + options)
    let line = try await host.line("not listed, port ")
    let port = try #require(line.firstMatch(of: /port ([0-9]+)/)?.1)
    let client = try RunningGame.join(String(port), "--security", "none")
    try await client.line("game 1 begins")
    host.process.signal(SIGTERM)
    try await client.line("final score ")
    #expect(try await client.report().endReason == "finished")
    #expect(try await host.report().endReason == "interrupted")
  }
}
