import CaromTransport
import Foundation
import Synchronization

/// A process of the lab, with the lines that it prints and their times. Times are milliseconds of
/// the clock that all hosts of a lab share.
final class ChildProgram: Sendable {
  /// A printed line and the time at which it was read.
  struct Line: Sendable {
    let time: Double
    let text: String
  }

  /// Unchecked: `Process` is set up before it is shared, and only its pipes are used afterwards.
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

  private struct Waiter {
    let number: Int
    let first: Int
    let matches: @Sendable (String) -> Bool
    let continuation: CheckedContinuation<Line?, Never>
  }

  private struct State {
    var lines: [Line] = []
    var waiters: [Waiter] = []
    var waitersSoFar = 0
    var hasEnded = false
  }

  /// Processes are started one at a time, so that none inherits the pipes of another and keeps them
  /// open.
  private static let spawning = Mutex(())

  private let handle: Handle
  private let state = Mutex(State())
  /// Whether the process's standard input is closed.
  private let isInputClosed = Mutex(false)

  /// Starts the process.
  init(_ command: [String], in folder: URL, _ environment: [String: String]) throws {
    handle = Self.spawning.withLock { _ in Handle() }
    let process = handle.process
    process.executableURL = URL(filePath: command[0])
    process.arguments = Array(command.dropFirst())
    process.currentDirectoryURL = folder
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = handle.input
    process.standardOutput = handle.output
    process.standardError = handle.output
    try Self.spawning.withLock { _ in try process.run() }
    // Otherwise writing to a process that has ended would end this process with SIGPIPE.
    signal(SIGPIPE, SIG_IGN)
    let output = handle.output.fileHandleForReading
    Thread.detachNewThread { [self] in
      var rest = Data()
      while case let data = output.availableData, !data.isEmpty {
        let time = Self.now
        rest += data
        while let end = rest.firstIndex(of: 0x0A) {
          append(Line(time: time, text: String(decoding: rest[..<end], as: UTF8.self)))
          rest = Data(rest[(end + 1)...])
        }
      }
      // Close the pipe at once even if other references to it exist: `Process` fails if more than
      // 1,300 descriptors are open.
      try? output.close()
      endInput()
      finish()
    }
  }

  /// The current time.
  static var now: Double { Double(NetworkLoop.now.nanoseconds) / 1e6 }

  /// The number of lines that the process has printed.
  var count: Int { state.withLock { $0.lines.count } }

  /// Returns the printed lines from index `first` on.
  func lines(from first: Int = 0) -> ArraySlice<Line> { state.withLock { $0.lines[first...] } }

  /// Waits for a line at or after index `first` that matches. Returns `nil` if there is none within
  /// `limit` or before the process ends.
  func line(
    from first: Int = 0, within limit: Duration = .seconds(10),
    where matches: @escaping @Sendable (String) -> Bool
  ) async -> Line? {
    await withCheckedContinuation { continuation in
      let (line, number): (Line?, Int?) = state.withLock { state in
        if let line = state.lines.dropFirst(first).first(where: { matches($0.text) }) {
          return (line, nil)
        }
        guard !state.hasEnded else { return (nil, nil) }
        state.waitersSoFar += 1
        state.waiters.append(
          Waiter(
            number: state.waitersSoFar, first: first, matches: matches, continuation: continuation))
        return (nil, state.waitersSoFar)
      }
      guard let number else { return continuation.resume(returning: line) }
      Task {
        try? await Task.sleep(for: limit)
        self.cancelWaiter(number)
      }
    }
  }

  /// Sends a line to the process, with tabs between the words.
  func send(_ words: String...) {
    let line = Data((words.joined(separator: "\t") + "\n").utf8)
    isInputClosed.withLock { isClosed in
      guard !isClosed else { return }
      try? handle.input.fileHandleForWriting.write(contentsOf: line)
    }
  }

  /// Closes the process's standard input.
  func endInput() {
    isInputClosed.withLock { isClosed in
      if !isClosed { try? handle.input.fileHandleForWriting.close() }
      isClosed = true
    }
  }

  /// Waits until the process has closed its output, for at most 10 s.
  func end() async { _ = await line(from: .max, within: .seconds(10)) { _ in false } }

  private func append(_ line: Line) {
    let waiters = state.withLock { state in
      state.lines.append(line)
      let index = state.lines.count - 1
      let (met, others) = state.waiters.reduce(into: ([Waiter](), [Waiter]())) { parts, waiter in
        if waiter.first <= index, waiter.matches(line.text) {
          parts.0.append(waiter)
        } else {
          parts.1.append(waiter)
        }
      }
      state.waiters = others
      return met
    }
    for waiter in waiters { waiter.continuation.resume(returning: line) }
  }

  private func cancelWaiter(_ number: Int) {
    let waiter = state.withLock { state in
      state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
    }
    waiter?.continuation.resume(returning: nil)
  }

  private func finish() {
    let waiters = state.withLock { state in
      state.hasEnded = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.continuation.resume(returning: nil) }
  }
}
