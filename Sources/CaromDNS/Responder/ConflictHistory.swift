import CaromCore

/// How often others contradicted a name of ours, and how fast it may be asked for again.
struct ConflictHistory: Sendable {
  /// Conflicts within this time count together, and so many slow probing down to one try in
  /// five seconds (RFC 6762 §8.1).
  static let window = Duration.seconds(10)
  static let limit = 15
  static let pause = Duration.seconds(5)
  /// After that long without a free name the user is told (RFC 6762 §9).
  static let patience = Duration.seconds(60)

  private var moments: [Instant] = []
  /// Whether there were too many of them since the name was last won.
  private var isSlowed = false
  private var first: Instant?

  /// Counts a conflict: when the next probe may be sent, or `nil` once patience has run out.
  mutating func record(at now: Instant) -> Instant? {
    let first = first ?? now
    self.first = first
    guard now - first <= Self.patience else { return nil }
    moments = moments.filter { now - $0 < Self.window }.suffix(Self.limit - 1) + [now]
    isSlowed = isSlowed || moments.count >= Self.limit
    return isSlowed ? now.advanced(by: Self.pause) : now
  }

  /// The name was won: the minute begins anew with the next conflict.
  mutating func settle() {
    first = nil
    isSlowed = false
  }
}
