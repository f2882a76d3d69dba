import CaromCore

/// A clock for ticks whose speed can change a little: time that was counted stays counted, and
/// nothing is skipped or made twice when it does. Integers throughout.
public struct ClockPace: Hashable, Sendable {
  /// Millionths of the real clock's speed: 950,000 to 1,050,000.
  public private(set) var speed = 1_000_000
  private var ticks: StepAccumulator
  /// Where the real clock was last, and where this one is.
  private var real: Instant
  private var paced: Instant
  /// Millionths of a nanosecond that were not counted yet.
  private var rest: Int64 = 0

  /// Begins at `now`, with `rate` ticks a second.
  public init(rate: Int, from now: Instant) {
    ticks = StepAccumulator(rate: rate, from: now)
    real = now
    paced = now
  }

  /// Ticks a second at full speed.
  public var rate: Int { ticks.rate }

  /// The ticks that became due: see `StepAccumulator.advance(to:)`.
  public mutating func advance(to now: Instant) -> StepAccumulator.Steps {
    move(to: now)
    return ticks.advance(to: paced)
  }

  /// How far `now` lies between two ticks, 0 to 1.
  public func fraction(at now: Instant) -> Double {
    var copy = self
    copy.move(to: now)
    return ticks.fraction(at: copy.paced)
  }

  /// When the next tick is due.
  public var nextTick: Instant {
    let missing = ticks.nextStep.nanoseconds - paced.nanoseconds
    guard missing > 0 else { return real }
    // Rounded up, so that the tick is due then and not before.
    let nanoseconds = (missing * 1_000_000 - rest + Int64(speed) - 1) / Int64(speed)
    return real.advanced(byNanoseconds: nanoseconds)
  }

  /// Runs at that speed from `now` on; it is kept within 5 % of the real clock's.
  public mutating func setSpeed(_ millionths: Int, at now: Instant) {
    move(to: now)
    speed = min(max(millionths, 950_000), 1_050_000)
  }

  private mutating func move(to now: Instant) {
    guard now > real else { return }
    let elapsed = now.nanoseconds.subtractingReportingOverflow(real.nanoseconds)
    let span = elapsed.overflow ? .max : elapsed.partialValue
    real = now
    // Whole seconds apart, so that products stay small.
    let seconds = span / 1_000_000_000
    let product = (span % 1_000_000_000) * Int64(speed) + rest
    rest = product % 1_000_000
    let scaled = seconds.multipliedReportingOverflow(by: Int64(speed) * 1_000)
    let whole = scaled.overflow ? Int64.max / 2 : scaled.partialValue
    paced = paced.advanced(byNanoseconds: whole).advanced(byNanoseconds: product / 1_000_000)
  }
}
