import CaromCore

/// What a guest may ask for in a second: each change is told to both sides, and lines of a log
/// without end fill a disk. No hand presses keys that fast.
struct RequestLimit {
  /// Requests in a second.
  static let perSecond = 100

  private var count = 0
  private var end = Instant(nanoseconds: .min)

  /// Counts one more; `false` where that is too many.
  mutating func admits(at now: Instant) -> Bool {
    if now >= end {
      end = now + .seconds(1)
      count = 0
    }
    count += 1
    return count <= Self.perSecond
  }
}
