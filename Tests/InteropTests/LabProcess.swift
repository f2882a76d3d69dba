import Foundation
import Synchronization
import Testing

/// A process that a test starts. Tests wait for lines of its output instead of sleeping.
final class LabProcess: Sendable {
  /// Unchecked: the process is configured before it is shared; afterwards only its pipes are used.
  private struct Handle: @unchecked Sendable {
    let process = Process()
    let input = Pipe()
    let output = Pipe()

    init() {
      for pipe in [input, output] {
        for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
          _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
      }
    }
  }

  /// Starts processes one at a time, so that none inherits the pipes of another and keeps them
  /// open.
  private static let spawning = Mutex(())

  private let handle: Handle
  /// Whether the input of the process is closed. Closing it twice could close a file that another
  /// thread has opened in the meantime.
  private let isInputClosed = Mutex(false)
  private let seen = Mutex<[String]>([])
  private let lines: AsyncStream<String>

  init(
    _ program: URL, _ arguments: [String], in folder: URL, _ environment: [String: String]
  ) throws {
    handle = Self.spawning.withLock { _ in Handle() }
    let process = handle.process
    process.executableURL = program
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = handle.input
    process.standardOutput = handle.output
    process.standardError = handle.output
    let (lines, continuation) = AsyncStream<String>.makeStream()
    self.lines = lines
    try Self.spawning.withLock { _ in try process.run() }
    let output = handle.output.fileHandleForReading
    Thread.detachNewThread { [self] in
      var rest = Data()
      while case let data = output.availableData, !data.isEmpty {
        rest += data
        while let end = rest.firstIndex(of: 0x0A) {
          continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
          rest = Data(rest[(end + 1)...])
        }
      }
      continuation.finish()
      // Foundation keeps a `Process` and its pipes for as long as the thread lives that started it.
      try? output.close()
      endInput()
    }
  }

  /// All lines that have been read so far.
  var transcript: String { seen.withLock { $0.joined(separator: "\n") } }

  /// Waits for a line that contains all of `parts`. Fails if the output ends before.
  func line(containing parts: String...) async throws -> String {
    for await line in lines {
      seen.withLock { $0.append(line) }
      if parts.allSatisfy({ line.contains($0) }) { return line }
    }
    return try #require(nil as String?, "no line with \(parts) in:\n\(transcript)")
  }

  /// Waits until for each element of `wanted` a line has contained all of its parts, in any order.
  func lines(containing wanted: [[String]]) async throws {
    var missing = wanted
    for await line in lines {
      seen.withLock { $0.append(line) }
      missing.removeAll { parts in parts.allSatisfy { line.contains($0) } }
      if missing.isEmpty { return }
    }
    try #require(missing.isEmpty, "no line with \(missing) in:\n\(transcript)")
  }

  /// Writes a line to the process.
  func send(_ line: String) {
    isInputClosed.withLock { isClosed in
      if !isClosed { handle.input.fileHandleForWriting.write(Data("\(line)\n".utf8)) }
    }
  }

  /// Closes the input of the process. A peer process then sends its goodbyes and ends.
  func endInput() {
    isInputClosed.withLock { isClosed in
      if !isClosed { try? handle.input.fileHandleForWriting.close() }
      isClosed = true
    }
  }
}
