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
  /// The number of names to lose before the next one is chosen at random. Many hosts that want the
  /// same name would otherwise all try the same next name, and only one of them could get it.
  static let orderlyLosses = 3
  /// The number of names from which the first random one is chosen. The number doubles with each
  /// further loss, up to `largestChoice`.
  static let smallestChoice = 10
  static let largestChoice = 1280

  private var times: [Instant] = []
  /// Whether probing has been slowed down since the name was last claimed.
  private var isSlowed = false
  private var first: Instant?
  /// The number of names that other hosts have taken since a name was last claimed.
  private var losses = 0

  /// Adds a conflict. Returns the earliest time of the next probe, or nil if `timeout` has passed
  /// since the first conflict.
  mutating func record(at now: Instant) -> Instant? {
    guard recordLostTiebreak(at: now) else { return nil }
    times = times.filter { now - $0 < Self.window }.suffix(Self.limit - 1) + [now]
    isSlowed = isSlowed || times.count >= Self.limit
    return isSlowed ? now.advanced(by: Self.pause) : now
  }

  /// Adds a tiebreak that another prober won. It is not counted as a conflict, since nobody has the
  /// name yet (RFC 6762 §8.2), but the `timeout` also runs from the first lost tiebreak. Returns
  /// false if more than `timeout` has passed since the first conflict or lost tiebreak.
  mutating func recordLostTiebreak(at now: Instant) -> Bool {
    let first = first ?? now
    self.first = first
    return now - first <= Self.timeout
  }

  /// Records that another host has taken the current name. Returns the number of successors of that
  /// name from which the caller must choose the next name to try at random; 1 stands for the
  /// immediate successor.
  mutating func recordLoss() -> Int {
    losses += 1
    let doublings = losses - Self.orderlyLosses
    guard doublings >= 0 else { return 1 }
    return min(Self.smallestChoice << min(doublings, 16), Self.largestChoice)
  }

  /// Resets the history once the name is claimed, or no longer wanted.
  mutating func reset() {
    first = nil
    isSlowed = false
    losses = 0
  }
}
