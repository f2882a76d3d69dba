import CaromCore

/// The timer for a record's two announcements, one second apart (RFC 6762 §8.3).
struct Announcer: Hashable, Sendable {
  /// The number of announcements of each record.
  static let announcements = 2
  /// The interval between the two announcements.
  static let interval = Duration.seconds(1)

  private var sent = 0
  private var next: Instant?

  /// Creates a timer whose first announcement is due at `start`.
  init(start: Instant) { next = start }

  /// The time of the next announcement, or nil after the last one.
  var nextTimeout: Instant? { next }

  /// Returns whether the record must be announced now.
  mutating func handleTimeout(at now: Instant) -> Bool {
    guard let due = next, now >= due else { return false }
    sent += 1
    next = sent < Self.announcements ? now.advanced(by: Self.interval) : nil
    return true
  }
}
