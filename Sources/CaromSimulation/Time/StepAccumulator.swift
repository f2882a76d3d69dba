import CaromCore

/// Turns the passing of time into whole steps of a fixed rate, without drift.
///
/// Step n is due at n * 1 s / rate after the origin, in integers; sums of rounded steps never
/// build up, so 60 Hz over 24 hours makes 5,184,000 steps to the nanosecond. After a stall the
/// catch-up is bounded: what lies further back is dropped and counted.
public struct StepAccumulator: Hashable, Sendable {
  /// The steps that are due now.
  public struct Steps: Hashable, Sendable {
    /// How many to make.
    public var due: Int
    /// How many were given up, because catching up would take more than the bound.
    public var dropped: Int

    /// That many to make, and that many given up.
    public init(due: Int, dropped: Int = 0) {
      self.due = due
      self.dropped = dropped
    }
  }

  /// The longest stall that is caught up: a quarter of a second.
  public static let catchUpLimit = Duration.milliseconds(250)

  /// Steps a second.
  public let rate: Int
  /// Steps handed out so far.
  public private(set) var totalSteps: UInt64 = 0
  /// Steps given up so far.
  public private(set) var totalDropped: UInt64 = 0

  /// When step 0 was due, whole seconds and steps being counted from it. It moves when steps are
  /// dropped, and by whole seconds, to keep the products small.
  private var origin: Instant
  /// Steps due after `origin` that were handed out.
  private var counted: Int64 = 0
  private let limit: Int64

  /// Begins at `origin`: the first step is due one step's length later.
  public init(rate: Int, from origin: Instant, catchUp: Duration = catchUpLimit) {
    precondition(rate > 0 && rate <= 1_000_000, "a rate of 1 to 1,000,000 steps a second")
    self.rate = rate
    self.origin = origin
    limit = max(1, (catchUp.wholeNanoseconds * Int64(rate) + 999_999_999) / 1_000_000_000)
  }

  /// The steps that became due since the last call; a clock that stands or goes back gives none.
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

  /// When the next step is due.
  public var nextStep: Instant { instant(of: counted + 1) }

  /// How far `now` lies between the last step and the next, 0 to 1, for interpolation.
  public func fraction(at now: Instant) -> Double {
    let last = instant(of: counted).nanoseconds
    let length = nextStep.nanoseconds - last
    return min(1, max(0, Double(now.nanoseconds - last) / Double(length)))
  }

  /// Whole steps from the origin to `now`.
  private func elapsed(at now: Instant) -> Int64 {
    let (difference, overflow) = now.nanoseconds.subtractingReportingOverflow(origin.nanoseconds)
    guard !overflow, difference > 0 else { return 0 }
    let seconds = difference / 1_000_000_000
    return seconds * Int64(rate) + (difference % 1_000_000_000) * Int64(rate) / 1_000_000_000
  }

  /// The first nanosecond at which `elapsed` counts that many steps.
  private func instant(of count: Int64) -> Instant {
    let seconds = count / Int64(rate)
    let rest = (count % Int64(rate)) * 1_000_000_000
    let nanoseconds = (rest + Int64(rate) - 1) / Int64(rate)
    return Instant(nanoseconds: origin.nanoseconds + seconds * 1_000_000_000 + nanoseconds)
  }

  /// Moves the origin by whole seconds, which are whole steps.
  private mutating func rebase() {
    let seconds = counted / Int64(rate)
    origin.nanoseconds += seconds * 1_000_000_000
    counted -= seconds * Int64(rate)
  }
}
