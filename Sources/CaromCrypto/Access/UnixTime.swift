/// A time on the wall clock, in whole milliseconds since the beginning of 1970 (UTC). Unlike an
/// `Instant`, it means the same on every computer, as far as their clocks agree.
public struct UnixTime: Hashable, Sendable {
  /// The number of milliseconds since the beginning of 1970.
  public var milliseconds: Int64

  /// Creates a time from its milliseconds since the beginning of 1970.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// Returns the time `duration` later, in whole milliseconds, clamped to the representable range.
  public static func + (time: UnixTime, duration: Duration) -> UnixTime {
    let (seconds, attoseconds) = duration.components
    let (scaled, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000)
    let (sum, overflow) = time.milliseconds.addingReportingOverflow(scaled)
    guard !isTooLarge, !overflow else {
      return UnixTime(milliseconds: seconds < 0 ? .min : .max)
    }
    let (total, carried) = sum.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    return UnixTime(milliseconds: carried ? (seconds < 0 ? .min : .max) : total)
  }
}

extension UnixTime: Comparable {
  /// Returns whether `a` is earlier than `b`.
  public static func < (a: UnixTime, b: UnixTime) -> Bool { a.milliseconds < b.milliseconds }
}
