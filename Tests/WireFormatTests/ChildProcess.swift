import Foundation
import Synchronization
import Testing

/// A program of a test: its lines are waited for, never slept for. It ends with its owner.
final class ChildProcess: Sendable {
  /// Unchecked: `Process` is set up before it is shared, and only ended afterwards.
  private struct Handle: @unchecked Sendable {
    let process = Process()
    let output = Pipe()
  }

  /// One at a time, so that no program inherits the pipe of another and keeps it open.
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

  /// The next line that has `part` in it; fails where the program ends before.
  func line(containing part: String) async throws -> String {
    for await line in lines where line.contains(part) { return line }
    return try #require(nil as String?, "it ended without a line with '\(part)'")
  }

  /// The object on the last line, when the program has ended.
  func summary() async throws -> [String: Any] {
    var last = ""
    for await line in lines { last = line }
    let object = try JSONSerialization.jsonObject(with: Data(last.utf8))
    return try #require(object as? [String: Any])
  }
}
