/// A point on a monotonic clock, whole nanoseconds after that clock's own beginning.
///
/// Wall-clock jumps do not move it. Two hosts' instants cannot be compared.
public struct Instant: Hashable, Sendable {
  /// Nanoseconds since the clock began.
  public var nanoseconds: Int64

  /// The instant that many nanoseconds after the clock's beginning.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The clock's beginning.
  public static let zero = Instant(nanoseconds: 0)

  /// Later than every instant that a program can reach (292 years).
  public static let distantFuture = Instant(nanoseconds: .max)
}

extension Instant: InstantProtocol {
  /// The instant `duration` later, whole nanoseconds; it stops at the ends of the range.
  @inlinable public func advanced(by duration: Duration) -> Instant {
    advanced(byNanoseconds: duration.wholeNanoseconds)
  }

  /// The instant that many nanoseconds later; it stops at the ends of the range.
  @inlinable public func advanced(byNanoseconds count: Int64) -> Instant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(count)
    guard overflow else { return Instant(nanoseconds: sum) }
    return Instant(nanoseconds: count < 0 ? .min : .max)
  }

  /// How long from here to `other`; negative when `other` is earlier.
  @inlinable public func duration(to other: Instant) -> Duration {
    .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
  }

  /// Orders by time.
  @inlinable public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

  /// The instant `duration` later.
  @inlinable public static func + (a: Instant, duration: Duration) -> Instant {
    a.advanced(by: duration)
  }

  /// How long from `b` to `a`.
  @inlinable public static func - (a: Instant, b: Instant) -> Duration { b.duration(to: a) }
}

extension Duration {
  /// The duration in whole nanoseconds, towards zero, stopped at the ends of `Int64`.
  @inlinable public var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return seconds < 0 ? .min : .max }
    let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
    return carried ? (seconds < 0 ? .min : .max) : sum
  }

  /// The duration in milliseconds with their fraction, for people and reports.
  public var inMilliseconds: Double { Double(wholeNanoseconds) / 1e6 }
}

/// The earlier of two deadlines, where `nil` is "none".
@inlinable public func earliest(_ a: Instant?, _ b: Instant?) -> Instant? {
  guard let a else { return b }
  guard let b else { return a }
  return min(a, b)
}
