import Foundation
import Synchronization
import Testing

/// A program that a test starts and whose output lines it awaits. The program is terminated when
/// this object is released.
final class ChildProcess: Sendable {
  /// Unchecked: `Process` is configured before it is shared, and only terminated afterwards.
  private struct Handle: @unchecked Sendable {
    let process = Process()
    let output = Pipe()
  }

  /// Serializes starting programs, so that none inherits the pipe of another and keeps it open.
  private static let spawning = Mutex(())

  private let handle: Handle
  private let lines: AsyncStream<String>

  init(_ program: URL, _ arguments: [String]) throws {
    let handle = Handle()
    handle.process.executableURL = program
    handle.process.arguments = arguments
    handle.process.standardInput = FileHandle.nullDevice
    handle.process.standardOutput = handle.output
    handle.process.standardError = handle.output
    let (lines, continuation) = AsyncStream<String>.makeStream()
    (self.handle, self.lines) = (handle, lines)
    try Self.spawning.withLock { _ in try handle.process.run() }
    let output = handle.output.fileHandleForReading
    Thread.detachNewThread {
      var rest = Data()
      while case let data = output.availableData, !data.isEmpty {
        rest += data
        while let end = rest.firstIndex(of: 0x0A) {
          continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
          rest = Data(rest[(end + 1)...])
        }
      }
      continuation.finish()
    }
  }

  deinit { if handle.process.isRunning { handle.process.terminate() } }

  /// Returns the next line that contains `part`; fails if the program ends first.
  func line(containing part: String) async throws -> String {
    for await line in lines where line.contains(part) { return line }
    return try #require(nil as String?, "the program ended without a line that contains '\(part)'")
  }

  /// Waits for the program to end, and returns the JSON object on its last line.
  func summary() async throws -> [String: Any] {
    var last = ""
    for await line in lines { last = line }
    let object = try JSONSerialization.jsonObject(with: Data(last.utf8))
    return try #require(object as? [String: Any])
  }
}
