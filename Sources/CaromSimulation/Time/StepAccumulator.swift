import CaromCore

/// Converts elapsed time into whole steps at a fixed rate, without drift.
///
/// Step n is due n / rate seconds after the origin, computed in integers. Rounding errors do not
/// accumulate: 60 Hz over 24 hours yields exactly 5,184,000 steps. After a stall, only a limited
/// number of steps become due; older steps are dropped and counted.
public struct StepAccumulator: Hashable, Sendable {
  /// The number of steps that became due, and the number that were dropped.
  public struct Steps: Hashable, Sendable {
    /// The number of steps to simulate.
    public var due: Int
    /// The number of steps dropped because they exceed the catch-up limit.
    public var dropped: Int

    /// Creates a result with `due` steps to simulate and `dropped` steps lost.
    public init(due: Int, dropped: Int = 0) {
      self.due = due
      self.dropped = dropped
    }
  }

  /// The default limit on how much missed time one call makes up: a quarter of a second.
  public static let catchUpLimit = Duration.milliseconds(250)

  /// The number of steps per second.
  public var rate: Int { Int(fixedRate.perSecond) }
  /// The total number of steps returned as due.
  public private(set) var totalSteps: UInt64 = 0
  /// The total number of steps dropped.
  public private(set) var totalDropped: UInt64 = 0

  /// The time from which steps are counted. It advances by whole seconds, so that the products in
  /// the integer arithmetic stay small.
  private var origin: Instant
  /// The number of steps after `origin` that have been returned or dropped.
  private var counted: Int64 = 0
  private let limit: Int64
  private let fixedRate: FixedRate

  /// Creates an accumulator that counts from `origin`. The first step is due one step length later.
  /// One call returns at most the steps that fit into `catchUp`.
  public init(rate: Int, from origin: Instant, catchUp: Duration = catchUpLimit) {
    fixedRate = FixedRate(rate)
    self.origin = origin
    limit = max(1, (catchUp.wholeNanoseconds * Int64(rate) + 999_999_999) / 1_000_000_000)
  }

  /// Returns the steps that have become due since the previous call. There are none if the clock
  /// has stood still or gone backwards.
  public mutating func advance(to now: Instant) -> Steps {
    rebase()
    let pending = elapsed(at: now) - counted
    guard pending > 0 else { return Steps(due: 0) }
    let due = min(pending, limit)
    let lost = pending - due
    counted += pending
    totalSteps += UInt64(due)
    totalDropped += UInt64(lost)
    return Steps(due: Int(due), dropped: Int(lost))
  }

  /// The time at which the next step is due.
  public var nextStep: Instant { instant(of: counted + 1) }

  /// Returns the position of `now` between the last step and the next, from 0 to 1, for
  /// interpolation.
  public func fraction(at now: Instant) -> Double {
    let last = instant(of: counted).nanoseconds
    let length = nextStep.nanoseconds - last
    return min(1, max(0, Double(now.nanoseconds - last) / Double(length)))
  }

  /// Returns the number of whole steps between `origin` and `now`.
  private func elapsed(at now: Instant) -> Int64 {
    let (difference, overflow) = now.nanoseconds.subtractingReportingOverflow(origin.nanoseconds)
    guard !overflow, difference > 0 else { return 0 }
    return fixedRate.steps(in: difference)
  }

  /// Returns the first nanosecond at which `elapsed(at:)` returns `count`.
  private func instant(of count: Int64) -> Instant {
    Instant(nanoseconds: origin.nanoseconds + fixedRate.nanosecondsRoundedUp(of: count))
  }

  /// Advances the origin by whole seconds, each of which is a whole number of steps.
  private mutating func rebase() {
    let seconds = counted / Int64(rate)
    origin.nanoseconds += seconds * 1_000_000_000
    counted -= seconds * Int64(rate)
  }
}
