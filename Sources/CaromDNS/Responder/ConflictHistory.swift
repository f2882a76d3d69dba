import CaromCore

/// The recent conflicts over a name, which limit the rate of further probes.
struct ConflictHistory: Sendable {
  /// The period in which conflicts are counted. After `limit` conflicts within it, probing slows
  /// down to one attempt per `pause` (RFC 6762 §8.1).
  static let window = Duration.seconds(10)
  static let limit = 15
  static let pause = Duration.seconds(5)
  /// The time after which a publication fails if no free name has been found (RFC 6762 §9).
  static let timeout = Duration.seconds(60)

  private var times: [Instant] = []
  /// Whether probing has been slowed down since the name was last claimed.
  private var isSlowed = false
  private var first: Instant?

  /// Adds a conflict. Returns the earliest time of the next probe, or nil if `timeout` has passed
  /// since the first conflict.
  mutating func record(at now: Instant) -> Instant? {
    let first = first ?? now
    self.first = first
    guard now - first <= Self.timeout else { return nil }
    times = times.filter { now - $0 < Self.window }.suffix(Self.limit - 1) + [now]
    isSlowed = isSlowed || times.count >= Self.limit
    return isSlowed ? now.advanced(by: Self.pause) : now
  }

  /// Resets the history once the name is claimed.
  mutating func reset() {
    first = nil
    isSlowed = false
  }
}
