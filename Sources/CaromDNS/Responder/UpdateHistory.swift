import CaromCore

/// When a service's records changed: at most ten times a minute (RFC 6762 §8.4).
struct UpdateHistory: Sendable {
  /// Changes within `window`.
  static let limit = 10
  static let window = Duration.seconds(60)

  private var moments: [Instant] = []

  /// When the next change may be told.
  func allowed(at now: Instant) -> Instant {
    guard moments.count == Self.limit, let first = moments.first else { return now }
    return max(now, first.advanced(by: Self.window))
  }

  /// A change is told.
  mutating func record(at now: Instant) { moments = moments.suffix(Self.limit - 1) + [now] }
}
