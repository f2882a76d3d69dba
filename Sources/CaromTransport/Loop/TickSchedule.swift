import CaromCore

/// The due times of ticks at a fixed rate. Tick `n` is due at `start` plus `n / hertz` seconds,
/// rounded down to nanoseconds, so that rounding errors do not accumulate.
public struct TickSchedule: Hashable, Sendable {
  /// The time at which tick 0 is due.
  public let start: Instant
  /// The number of ticks per second, 1 to 1,000,000.
  public var hertz: Int64 { rate.perSecond }
  private let rate: FixedRate

  /// Creates a schedule of `hertz` ticks per second that begins at `start`.
  public init(start: Instant, hertz: Int) {
    self.start = start
    rate = FixedRate(hertz)
  }

  /// Returns the time at which tick `index` is due.
  public func due(_ index: Int64) -> Instant {
    Instant(nanoseconds: start.nanoseconds + rate.nanoseconds(of: index))
  }

  /// Returns the index of the last tick that is due at `now`, or nil if `now` is before `start`.
  public func latest(at now: Instant) -> Int64? {
    let elapsed = now.nanoseconds - start.nanoseconds
    guard elapsed >= 0 else { return nil }
    // Due times are rounded down, so the next tick may be due within the same nanosecond.
    let index = rate.steps(in: elapsed)
    return due(index + 1) <= now ? index + 1 : index
  }
}
