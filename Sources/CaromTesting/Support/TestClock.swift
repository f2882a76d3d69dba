import CaromCore
import Synchronization

/// A clock that a test advances by hand, for testing code that sleeps.
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

  /// Creates a clock that shows the time `now`.
  public init(now: Instant = .zero) { state = Mutex(State(now: now)) }

  /// The current time, which only `advance(by:)` changes.
  public var now: Instant { state.withLock(\.now) }

  /// The resolution of the clock: 1 ns.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// The number of sleeping tasks. A test should wait until its tasks are asleep before it advances
  /// the clock.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// Advances the clock and wakes all tasks whose deadlines have passed, earliest deadline first.
  public func advance(by duration: Duration) {
    let awake = state.withLock { state in
      state.now = state.now + duration
      let due = state.sleepers.filter { $0.deadline <= state.now }
      state.sleepers.removeAll { $0.deadline <= state.now }
      return due.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
    }
    for sleeper in awake { sleeper.continuation.resume() }
  }

  /// Suspends the task until the clock reaches `deadline`, or throws if the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    let id = state.withLock { state in
      defer { state.nextID += 1 }
      return state.nextID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        register(Sleeper(id: id, deadline: deadline, continuation: continuation))
      }
    } onCancel: {
      cancel(id)
    }
  }

  private func register(_ sleeper: Sleeper) {
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
