import Foundation
import Testing

private let script = "/usr/bin/script"

/// The tool on a pseudo-terminal, which `script` (util-linux) makes.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: script), "no script(1)"))
struct ToolTerminalTests {
  private let type = RunningTool.makeType()

  /// Everything that browsing writes to a terminal of 72 by 5 cells until `isDone`.
  private func show(until isDone: @Sendable @escaping (String) -> Bool) async throws -> String {
    let tool = try RunningTool.executable().path
    let process = Process()
    process.executableURL = URL(filePath: script)
    process.arguments = [
      "-qec",
      "stty cols 72 rows 5; echo $$; exec '\(tool)' browse \(type) --resolve --interface lo",
      "/dev/null",
    ]
    process.environment = ["TERM": "xterm-256color", "SWIFT_BACKTRACE": "enable=no"]
    process.standardInput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    let (chunks, source) = AsyncStream.makeStream(of: Data.self)
    try process.run()
    let output = pipe.fileHandleForReading
    Thread.detachNewThread {
      while case let data = output.availableData, !data.isEmpty { source.yield(data) }
      source.finish()
    }
    var shown = Data()
    var isSignalled = false
    for await chunk in chunks {
      shown += chunk
      let text = String(decoding: shown, as: UTF8.self)
      guard !isSignalled, isDone(text), let id = text.split(separator: "\r\n").first else {
        continue
      }
      isSignalled = true
      kill(try #require(Int32(id)), SIGINT)
    }
    return String(decoding: shown, as: UTF8.self)
  }

  @Test func `the table is drawn over itself, and strangers' words do not steer it`() async throws {
    let hostile = "a\u{9B}31m\u{202E}b"
    let first = try RunningTool.start("publish", hostile, type, "7777", "k=\u{1B}[2J")
    try await first.line("published")
    let many = try (0..<2).map { index in
      try RunningTool.start("publish", "n\(index)", type, "\(8000 + index)")
    }
    for publisher in many { try await publisher.line("published") }
    let shown = try await show { $0.contains("… and 2 more") && $0.contains("127.0.0.1:7777") }
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
