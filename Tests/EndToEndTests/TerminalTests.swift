import Foundation
import Testing

@testable import air_hockey

private let script = "/usr/bin/script"
private let enter = "\u{1B}[?1049h\u{1B}[?25l"
private let leave = "\u{1B}[?25h\u{1B}[?1049l"

/// Runs the game on a pseudo-terminal, which `script` (util-linux) creates.
@Suite(.turns, .enabled(if: FileManager.default.isExecutableFile(atPath: script), "no script(1)"))
struct TerminalTests {
  /// Runs the game on a terminal of 60 by 16 cells and returns its output. Sends `signal` as soon
  /// as the game has opened the screen.
  func show(_ arguments: String, signal: Int32? = nil) async throws -> String {
    let game = try GameProcess.executable().path
    let process = Process()
    process.executableURL = URL(filePath: script)
    process.arguments = [
      "-qec", "stty cols 60 rows 16; echo $$; exec \(game) \(arguments)", "/dev/null",
    ]
    process.environment = ["TERM": "xterm-256color", "SWIFT_BACKTRACE": "enable=no"]
    process.standardInput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    let (chunks, source) = AsyncStream.makeStream(of: Data.self)
    // Another test's process must not inherit the pipe, since its end is awaited below.
    try RunningProcess.spawning.withLock { _ in
      for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
        _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
      }
      try process.run()
    }
    let output = pipe.fileHandleForReading
    Thread.detachNewThread {
      while case let data = output.availableData, !data.isEmpty { source.yield(data) }
      source.finish()
    }
    var shown = Data()
    var pending = signal
    for await chunk in chunks {
      shown += chunk
      guard let signal = pending else { continue }
      let text = String(decoding: shown, as: UTF8.self)
      guard text.contains(enter), let id = text.split(separator: "\r\n").first else { continue }
      kill(try #require(Int32(id)), signal)
      pending = nil
    }
    return String(decoding: shown, as: UTF8.self)
  }

  @Test func `a session draws the table, restores the terminal, and prints the summary`()
    async throws
  {
    let shown = try await show("solo --bot --seconds 1 --name Maya")
    let entered = try #require(shown.firstRange(of: enter))
    let left = try #require(shown.firstRange(of: leave))
    let screen = shown[entered.upperBound..<left.lowerBound]
    #expect(screen.contains("▀"))
    #expect(screen.contains("Maya"))
    #expect(screen.contains("\u{1B}[48;5;"))
    #expect(shown[left.upperBound...].contains("time is up"))
  }

  @Test(arguments: [SIGABRT, SIGSEGV, SIGTERM])
  func `the terminal is restored after a signal or a crash`(signal: Int32) async throws {
    let shown = try await show("solo --bot", signal: signal)
    let entered = try #require(shown.firstRange(of: enter))
    #expect(shown[entered.upperBound...].contains(leave))
  }
}
