import CTerminal
import Dispatch

/// Runs a command until it has finished, its time limit is reached, its output no longer has a
/// reader, or a signal requests termination. In each case goodbye records are sent for advertised
/// services.
enum CommandRunner {
  /// The times after which a command that still runs gives back the memory of code that it needed
  /// only at its start, and only for the questions of the first seconds. From then on, a command
  /// that watches mostly waits.
  static let releaseTimes = [Duration.seconds(3), .seconds(12)]

  /// Catches signals that request termination, and turns broken pipes into errors.
  static func catchSignals() {
    cterminal_catch_signals()
    cterminal_ignore_broken_pipes()
  }

  /// The reason why a command ended.
  enum EndReason: Sendable {
    /// The work has finished.
    case finished
    /// The time limit was reached.
    case timedOut
    /// A signal requested termination, or the output no longer has a reader.
    case interrupted
  }

  /// Runs `work` until it finishes, the time limit is reached or the command is interrupted, and
  /// returns which of these happened first. Unfinished work is cancelled and awaited. Throws any
  /// error from writing the output, or the error thrown by `work` unless `work` was cancelled.
  @discardableResult
  static func run(
    for limit: Duration? = nil, output: Output,
    _ work: @escaping @Sendable () async throws -> Void
  ) async throws -> EndReason {
    let release = Task {
      var passed = Duration.zero
      for time in releaseTimes {
        try await Task.sleep(for: time - passed)
        passed = time
        cterminal_release_code()
      }
    }
    defer { release.cancel() }
    let result = await withThrowingTaskGroup(of: EndReason.self) { group in
      group.addTask {
        try await work()
        await output.drain()
        return .finished
      }
      group.addTask {
        await signalReceived()
        return .interrupted
      }
      group.addTask {
        await output.untilClosed()
        return .interrupted
      }
      if let limit {
        group.addTask {
          try await Task.sleep(for: limit)
          return .timedOut
        }
      }
      let first = await group.nextResult()
      group.cancelAll()
      while await group.nextResult() != nil {}
      return first ?? .success(.finished)
    }
    await output.drainSoon()
    if let failure = output.failure { throw failure }
    return try result.get()
  }

  /// Waits until a signal requests termination, or the task is cancelled.
  private static func signalReceived() async {
    let (signals, source) = AsyncStream.makeStream(of: Void.self)
    DispatchQueue(label: "signals").async {
      _ = cterminal_wait_signal()
      source.finish()
    }
    for await _ in signals {}
  }
}
