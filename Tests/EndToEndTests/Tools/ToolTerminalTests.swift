import Foundation
import Testing

private let script = "/usr/bin/script"

/// Runs the tool on a pseudo-terminal, which `script` (util-linux) creates.
@Suite(.turns, .enabled(if: FileManager.default.isExecutableFile(atPath: script), "no script(1)"))
struct ToolTerminalTests {
  private let type = RunningTool.makeType()

  @Test
  func `the table is redrawn in place, and names from the network cannot control the terminal`()
    async throws
  {
    let hostile = "a\u{9B}31m\u{202E}b"
    let first = try RunningTool.start("publish", hostile, type, "7777", "k=\u{1B}[2J")
    try await first.line("published")
    let tool = try RunningTool.executable().path
    let table = try RunningProcess(
      URL(filePath: script),
      [
        "-qec",
        "stty cols 72 rows 8; echo $$; exec '\(tool)' browse \(type) --resolve --interface lo",
        "/dev/null",
      ], environment: ["TERM": "xterm-256color"])
    let id = try #require(await table.output.line { _ in true }).filter(\.isNumber)
    // The table is sorted by name, so this service stays visible.
    #expect(await table.output.line { $0.contains("127.0.0.1:7777") } != nil)
    let many = try (0..<6).map { index in
      try RunningTool.start("publish", "n\(index)", type, "\(8000 + index)")
    }
    for publisher in many { try await publisher.line("published") }
    #expect(await table.output.line { $0.contains("… and 3 more") } != nil)
    kill(try #require(Int32(id)), SIGINT)
    let shown = await table.output.all().joined(separator: "\n")
    #expect(shown.contains(#"a\u{9B}31m\u{202E}b"#))
    #expect(shown.contains("NAME"))
    #expect(!shown.contains("\u{9B}") && !shown.contains("\u{202E}"))
    let controls = shown.split(separator: "\u{1B}", omittingEmptySubsequences: false).dropFirst()
    #expect(!controls.isEmpty)
    #expect(
      controls.allSatisfy { $0.wholeMatch(of: /\[([0-9]+F|0J)[\s\S]*/) != nil }, "\(controls)")
    let lines = shown.split(separator: "\r\n").map { $0.split(separator: "\u{1B}").last ?? "" }
    #expect(lines.allSatisfy { $0.count <= 80 })
    for publisher in many + [first] { #expect(await publisher.end() == 0) }
  }
}
