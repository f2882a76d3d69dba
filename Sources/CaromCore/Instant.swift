/// A point in time on a monotonic clock, in whole nanoseconds since that clock's origin.
///
/// Changes to the wall clock do not affect an instant. Instants of different hosts are not
/// comparable.
public struct Instant: Hashable, Sendable {
  /// The number of nanoseconds since the clock's origin.
  public var nanoseconds: Int64

  /// Creates the instant `nanoseconds` after the clock's origin.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The clock's origin.
  @inlinable public static var zero: Instant { Instant(nanoseconds: 0) }

  /// The latest instant, 292 years after the origin; no program reaches it.
  @inlinable public static var distantFuture: Instant { Instant(nanoseconds: .max) }
}

extension Instant: InstantProtocol {
  /// Returns the instant `duration` later, in whole nanoseconds, clamped to the representable
  /// range.
  @inlinable public func advanced(by duration: Duration) -> Instant {
    advanced(byNanoseconds: duration.wholeNanoseconds)
  }

  /// Returns the instant `count` nanoseconds later, clamped to the representable range.
  @inlinable public func advanced(byNanoseconds count: Int64) -> Instant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(count)
    guard overflow else { return Instant(nanoseconds: sum) }
    return Instant(nanoseconds: count < 0 ? .min : .max)
  }

  /// Returns the duration from this instant to `other`, which is negative if `other` is earlier.
  @inlinable public func duration(to other: Instant) -> Duration {
    .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
  }

  /// Returns whether `a` is earlier than `b`.
  @inlinable public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

  /// Returns the instant `duration` after `a`.
  @inlinable public static func + (a: Instant, duration: Duration) -> Instant {
    a.advanced(by: duration)
  }

  /// Returns the instant `duration` before `a`.
  @_disfavoredOverload  // Otherwise, `instant - .zero` would be ambiguous.
  @inlinable public static func - (a: Instant, duration: Duration) -> Instant {
    a.advanced(by: .zero - duration)
  }

  /// Returns the duration from `b` to `a`.
  @inlinable public static func - (a: Instant, b: Instant) -> Duration { b.duration(to: a) }
}

extension Duration {
  /// The duration in whole nanoseconds, rounded towards zero and clamped to the range of `Int64`.
  @inlinable public var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return seconds < 0 ? .min : .max }
    let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
    return carried ? (seconds < 0 ? .min : .max) : sum
  }

  /// The duration in milliseconds as a floating-point number, for display.
  public var inMilliseconds: Double { Double(wholeNanoseconds) / 1e6 }
}

/// Returns the earlier of two deadlines. A deadline of nil means that there is none.
@inlinable public func earliest(_ a: Instant?, _ b: Instant?) -> Instant? {
  guard let a else { return b }
  guard let b else { return a }
  return min(a, b)
}
