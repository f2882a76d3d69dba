import CaromCore

/// When ticks are due: tick `n` at `start + n / hertz` seconds, in whole nanoseconds, so that no
/// error adds up.
public struct TickSchedule: Hashable, Sendable {
  /// When tick 0 is due.
  public let start: Instant
  /// Ticks a second, at least 1.
  public let hertz: Int64

  /// A schedule of `hertz` ticks a second from `start` on.
  public init(start: Instant, hertz: Int) {
    precondition((1...1_000_000).contains(hertz), "1 to 1,000,000 ticks a second")
    self.start = start
    self.hertz = Int64(hertz)
  }

  /// When tick `index` is due.
  public func due(_ index: Int64) -> Instant {
    let (seconds, rest) = index.quotientAndRemainder(dividingBy: hertz)
    return Instant(
      nanoseconds: start.nanoseconds + seconds * 1_000_000_000 + rest * 1_000_000_000 / hertz)
  }

  /// The last tick that is due at `now`; `nil` before the start.
  public func latest(at now: Instant) -> Int64? {
    let elapsed = now.nanoseconds - start.nanoseconds
    guard elapsed >= 0 else { return nil }
    let (seconds, rest) = elapsed.quotientAndRemainder(dividingBy: 1_000_000_000)
    // Due times are rounded down, so the next tick may be due within the same nanosecond.
    let index = seconds * hertz + rest * hertz / 1_000_000_000
    return due(index + 1) <= now ? index + 1 : index
  }
}
