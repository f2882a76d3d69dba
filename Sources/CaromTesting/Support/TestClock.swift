import CaromCore
import Synchronization

/// A clock that stands still until a test moves it: for code that sleeps.
public final class TestClock: Clock, Sendable {
  private struct Sleeper: Sendable {
    let id: UInt64
    let deadline: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State: Sendable {
    var now: Instant
    var nextID: UInt64 = 0
    var sleepers: [Sleeper] = []
    var cancelled: [UInt64] = []
  }

  private let state: Mutex<State>

  /// A clock that stands at `now`.
  public init(now: Instant = .zero) { state = Mutex(State(now: now)) }

  /// The time, which only `advance` moves.
  public var now: Instant { state.withLock(\.now) }

  /// Time on this clock is exact.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// How many tasks are asleep: a test waits for it before it moves the time.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// Moves the time on and wakes those whose time has come, the earliest first.
  public func advance(by duration: Duration) {
    let awake = state.withLock { state in
      state.now = state.now + duration
      let due = state.sleepers.filter { $0.deadline <= state.now }
      state.sleepers.removeAll { $0.deadline <= state.now }
      return due.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
    }
    for sleeper in awake { sleeper.continuation.resume() }
  }

  /// Sleeps until a test has moved the time that far, or the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    let id = state.withLock { state in
      defer { state.nextID += 1 }
      return state.nextID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        enter(Sleeper(id: id, deadline: deadline, continuation: continuation))
      }
    } onCancel: {
      cancel(id)
    }
  }

  private func enter(_ sleeper: Sleeper) {
    let outcome: Result<Void, any Error>? = state.withLock { state in
      if let index = state.cancelled.firstIndex(of: sleeper.id) {
        state.cancelled.remove(at: index)
        return .failure(CancellationError())
      }
      if sleeper.deadline <= state.now { return .success(()) }
      state.sleepers.append(sleeper)
      return nil
    }
    if let outcome { sleeper.continuation.resume(with: outcome) }
  }

  private func cancel(_ id: UInt64) {
    let sleeper: Sleeper? = state.withLock { state in
      guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
        state.cancelled.append(id)
        return nil
      }
      return state.sleepers.remove(at: index)
    }
    sleeper?.continuation.resume(throwing: CancellationError())
  }
}
