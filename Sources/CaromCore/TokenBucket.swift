/// A token bucket: a limit on the average rate of an activity that allows bursts up to a capacity.
///
/// Time is counted in whole units of the owner's choice, such as nanoseconds or ticks, and never
/// goes back. Fractions of a token are kept exactly.
package struct TokenBucket: Hashable, Sendable {
  /// The maximum number of tokens in the bucket, which is also their initial number.
  package let capacity: Int
  /// The amount added per unit of time, in units of 1/`fractions` of a token.
  private let fill: Int64
  /// The number of units of `level` that make up one token.
  private let fractions: Int64
  /// The current content of the bucket, in units of 1/`fractions` of a token.
  private var level: Int64
  /// The time, in the caller's unit, up to which tokens have been added. Nil before the first use.
  private var filledAt: Int64?

  /// Creates a full bucket that gains `tokens` tokens in each `period` units of time.
  package init(capacity: Int, tokens: Int, per period: Int64) {
    precondition(capacity > 0 && tokens > 0 && period > 0, "a token bucket needs positive limits")
    self.capacity = capacity
    fill = Int64(tokens)
    fractions = period
    level = Int64(capacity) * period
  }

  /// Returns the number of whole tokens in the bucket at `time`.
  package mutating func available(at time: Int64) -> Int {
    let missing = Int64(capacity) * fractions - level
    let elapsed = max(0, time &- (filledAt ?? time))
    level += elapsed > missing / fill ? missing : elapsed * fill
    filledAt = max(time, filledAt ?? time)
    return Int(level / fractions)
  }

  /// Returns the time from which the bucket holds `count` tokens if none are removed before; `time`
  /// if it holds them already. `count` must not exceed the capacity.
  package mutating func nextTime(of count: Int, at time: Int64) -> Int64 {
    guard available(at: time) < count else { return time }
    let missing = Int64(count) * fractions - level
    return (filledAt ?? time) + (missing + fill - 1) / fill
  }

  /// Removes `count` tokens and returns true, or returns false if the bucket holds fewer tokens at
  /// `time`.
  package mutating func consume(_ count: Int, at time: Int64) -> Bool {
    guard available(at: time) >= count else { return false }
    level -= Int64(count) * fractions
    return true
  }
}
