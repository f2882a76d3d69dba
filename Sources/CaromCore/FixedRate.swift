/// The arithmetic of a fixed rate in whole nanoseconds. Rounding errors do not accumulate over
/// time.
package struct FixedRate: Hashable, Sendable {
  /// The number of steps per second, 1 to 1,000,000. The bound prevents products from overflowing.
  package let perSecond: Int64

  /// Creates a rate of `perSecond` steps per second.
  package init(_ perSecond: Int) {
    precondition(
      (1...1_000_000).contains(perSecond), "the rate must be 1 to 1,000,000 steps per second")
    self.perSecond = Int64(perSecond)
  }

  /// Returns the number of whole steps in `nanoseconds` nanoseconds.
  package func steps(in nanoseconds: Int64) -> Int64 {
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return seconds * perSecond + rest * perSecond / 1_000_000_000
  }

  /// Returns the length of `count` steps in nanoseconds, rounded down.
  package func nanoseconds(of count: Int64) -> Int64 {
    let (seconds, rest) = count.quotientAndRemainder(dividingBy: perSecond)
    return seconds * 1_000_000_000 + rest * 1_000_000_000 / perSecond
  }

  /// Returns the length of `count` steps in nanoseconds, rounded up: the shortest time that
  /// contains `count` steps.
  package func nanosecondsRoundedUp(of count: Int64) -> Int64 {
    let (seconds, rest) = count.quotientAndRemainder(dividingBy: perSecond)
    return seconds * 1_000_000_000 + (rest * 1_000_000_000 + perSecond - 1) / perSecond
  }
}
