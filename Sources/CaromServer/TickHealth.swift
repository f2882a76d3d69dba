import CaromCore
import CaromSession
import Synchronization

/// Whether the ticks of a server run on time, for a monitor that asks over HTTP.
///
/// ```swift
/// let health = TickHealth()
/// let browsers = BrowserOptions(resources: ["/health": { health.page(at: NetworkLoop.now) }])
/// // In the loop of the game:
/// match.advance()
/// health.expectTick(by: match.server.nextTick, at: loop.now)
/// ```
public final class TickHealth: Sendable {
  private struct State {
    /// The time at which the next tick is due, or nil if none is.
    var due: Instant?
    /// When a late tick last ran.
    var lateAt: Instant?
    /// The greatest lateness that is still reported.
    var most = Duration.zero
  }

  /// A server whose tick is late by at least this much is not healthy.
  public let limit: Duration
  /// How long a late tick is reported, so that a monitor that asks less often learns of it.
  public let holdTime: Duration
  private let state = Mutex(State())

  /// Creates the health of a server that is not expected to tick yet.
  public init(limit: Duration = .milliseconds(100), holdTime: Duration = .seconds(10)) {
    self.limit = limit
    self.holdTime = holdTime
  }

  /// Records that the expected tick ran at `now`, and that the next one is due at `due`. Pass nil
  /// while no tick is due, for instance while nobody plays.
  public func expectTick(by due: Instant?, at now: Instant) {
    state.withLock { state in
      if let expected = state.due, now - expected >= limit {
        state.most = max(heldLateness(state, at: now) ?? .zero, now - expected)
        state.lateAt = now
      }
      state.due = due
    }
  }

  /// Returns the most by which a tick is late at `now`, or was late in the last `holdTime`. Returns
  /// nil if that is less than `limit`.
  public func lateness(at now: Instant) -> Duration? {
    state.withLock { state in
      let held = heldLateness(state, at: now)
      guard let due = state.due, now - due >= limit else { return held }
      return max(held ?? .zero, now - due)
    }
  }

  private func heldLateness(_ state: State, at now: Instant) -> Duration? {
    guard let lateAt = state.lateAt, now - lateAt < holdTime else { return nil }
    return state.most
  }

  /// Returns a page that says in one line whether the server is healthy: its status is 200 or 503.
  public func page(at now: Instant) -> BrowserOptions.Page {
    guard let lateness = lateness(at: now) else { return BrowserOptions.Page(text: "ok\n") }
    let milliseconds = Int64(lateness / .milliseconds(1))
    return BrowserOptions.Page(
      text: "A tick is or was late by \(milliseconds) ms.\n", isAvailable: false)
  }
}
