import CaromCore

/// The due times of ticks at a fixed rate. Tick `n` is due at `start` plus `n / hertz` seconds,
/// rounded down to nanoseconds, so that rounding errors do not accumulate.
public struct TickSchedule: Hashable, Sendable {
  /// The time at which tick 0 is due.
  public let start: Instant
  /// The number of ticks per second, 1 to 1,000,000.
  public let hertz: Int64

  /// Creates a schedule of `hertz` ticks per second that begins at `start`.
  public init(start: Instant, hertz: Int) {
    precondition((1...1_000_000).contains(hertz), "hertz must be 1 to 1,000,000 ticks per second")
    self.start = start
    self.hertz = Int64(hertz)
  }

  /// Returns the time at which tick `index` is due.
  public func due(_ index: Int64) -> Instant {
    let (seconds, rest) = index.quotientAndRemainder(dividingBy: hertz)
    return Instant(
      nanoseconds: start.nanoseconds + seconds * 1_000_000_000 + rest * 1_000_000_000 / hertz)
  }

  /// Returns the index of the last tick that is due at `now`; nil before `start`.
  public func latest(at now: Instant) -> Int64? {
    let elapsed = now.nanoseconds - start.nanoseconds
    guard elapsed >= 0 else { return nil }
    let (seconds, rest) = elapsed.quotientAndRemainder(dividingBy: 1_000_000_000)
    // Due times are rounded down, so the next tick may be due within the same nanosecond.
    let index = seconds * hertz + rest * hertz / 1_000_000_000
    return due(index + 1) <= now ? index + 1 : index
  }
}
