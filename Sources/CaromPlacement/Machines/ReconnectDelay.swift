/// How long a program waits before it connects to the directory again: longer from attempt to
/// attempt, but at most a second, so that a directory that is back knows the fleet again within
/// two.
///
/// The delays are random, so that hosts that lost the directory together do not return together.
package struct ReconnectDelay: Sendable {
  /// The longest delay before the first attempt.
  static let first = Duration.milliseconds(250)
  /// The longest delay before any attempt.
  static let limit = Duration.seconds(1)

  /// The longest that the next delay can be.
  private var interval = first

  package init() {}

  /// Returns the delay before the next attempt: between half of what it can be and all of it.
  package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
    let half = (interval / 2).wholeNanoseconds
    interval = min(interval * 2, Self.limit)
    return .nanoseconds(half + Int64.random(in: 0...half, using: &generator))
  }

  /// Reports that the directory has answered.
  package mutating func reset() { interval = Self.first }
}
