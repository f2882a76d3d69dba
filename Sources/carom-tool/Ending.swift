import CTerminal
import Foundation

/// When a command ends: when its work is done, its time is up, nobody reads its output any more,
/// or the system asks for it. Services say goodbye in each case.
enum Ending {
  /// From now on requests to end are counted, and broken pipes are errors.
  static func prepare() {
    cterminal_catch_signals()
    cterminal_ignore_broken_pipes()
  }

  /// Why it ended.
  enum Reason: Sendable {
    /// The work is done.
    case done
    /// The time is up.
    case expired
    /// The system asked for it, or nobody reads what is told.
    case asked
  }

  /// Runs `work` until it ends, or until there is another reason to end: then it is cancelled and
  /// waited for. Throws what `work` throws, unless it was cancelled, and why the output failed.
  @discardableResult
  static func run(
    for limit: Duration? = nil, output: Output,
    _ work: @escaping @Sendable () async throws -> Void
  ) async throws -> Reason {
    let result = await withThrowingTaskGroup(of: Reason.self) { group in
      group.addTask {
        try await work()
        await output.drain()
        return .done
      }
      group.addTask {
        await signalled()
        return .asked
      }
      group.addTask {
        await output.untilClosed()
        return .asked
      }
      if let limit {
        group.addTask {
          try await Task.sleep(for: limit)
          return .expired
        }
      }
      let first = await group.nextResult()
      group.cancelAll()
      while await group.nextResult() != nil {}
      return first ?? .success(.done)
    }
    await output.drainSoon()
    if let failure = output.failure { throw failure }
    return try result.get()
  }

  /// Returns when the system asks for the end, or the task is cancelled.
  private static func signalled() async {
    let (signals, source) = AsyncStream.makeStream(of: Void.self)
    Thread.detachNewThread {
      _ = cterminal_wait_signal()
      source.finish()
    }
    for await _ in signals {}
  }
}
