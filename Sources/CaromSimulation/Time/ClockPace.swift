import CaromCore

/// A tick clock whose speed can be adjusted by a few percent. Changing the speed never skips or
/// repeats a tick. All arithmetic is in integers.
public struct ClockPace: Hashable, Sendable {
  /// The clock's speed in parts per million of real time, 950,000 to 1,050,000.
  public private(set) var speed = 1_000_000
  private var ticks: StepAccumulator
  /// The last real time that was processed.
  private var real: Instant
  /// The paced time that corresponds to `real`.
  private var paced: Instant
  /// The fraction of a nanosecond in the paced time, in millionths of a nanosecond.
  private var rest: Int64 = 0

  /// Creates a clock that starts at `now` and ticks `rate` times a second at normal speed.
  public init(rate: Int, from now: Instant) {
    ticks = StepAccumulator(rate: rate, from: now)
    real = now
    paced = now
  }

  /// The number of ticks per second at normal speed.
  public var rate: Int { ticks.rate }

  /// Returns the ticks that have become due since the previous call, as
  /// `StepAccumulator.advance(to:)` does.
  public mutating func advance(to now: Instant) -> StepAccumulator.Steps {
    move(to: now)
    return ticks.advance(to: paced)
  }

  /// Returns the position of `now` between the last tick and the next, from 0 to 1.
  public func fraction(at now: Instant) -> Double {
    var copy = self
    copy.move(to: now)
    return ticks.fraction(at: copy.paced)
  }

  /// The real time at which the next tick is due.
  public var nextTick: Instant {
    let missing = ticks.nextStep.nanoseconds - paced.nanoseconds
    guard missing > 0 else { return real }
    // The result is rounded up, so that the tick really is due at this time.
    let nanoseconds = (missing * 1_000_000 - rest + Int64(speed) - 1) / Int64(speed)
    return real.advanced(byNanoseconds: nanoseconds)
  }

  /// Sets the clock's speed from `now` on, in parts per million of real time. A speed that differs
  /// from real time by more than 5 % is clamped.
  public mutating func setSpeed(_ millionths: Int, at now: Instant) {
    move(to: now)
    speed = min(max(millionths, 950_000), 1_050_000)
  }

  private mutating func move(to now: Instant) {
    guard now > real else { return }
    let elapsed = now.nanoseconds.subtractingReportingOverflow(real.nanoseconds)
    let span = elapsed.overflow ? .max : elapsed.partialValue
    real = now
    // Whole seconds are scaled separately, so that the products stay small.
    let seconds = span / 1_000_000_000
    let product = (span % 1_000_000_000) * Int64(speed) + rest
    rest = product % 1_000_000
    let scaled = seconds.multipliedReportingOverflow(by: Int64(speed) * 1_000)
    let whole = scaled.overflow ? Int64.max / 2 : scaled.partialValue
    paced = paced.advanced(byNanoseconds: whole).advanced(byNanoseconds: product / 1_000_000)
  }
}
