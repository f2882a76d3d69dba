import CaromCore

/// The timer for a claim's two announcements, one second apart (RFC 6762 §8.3).
package struct Announcer: Hashable, Sendable {
  /// The number of announcements of each claimed name.
  static let announcements = 2
  /// The interval between the two announcements.
  static let interval = Duration.seconds(1)

  private var sent = 0
  private var next: Instant?

  /// Creates an announcer whose first announcement is due at `start`.
  package init(start: Instant) { next = start }

  /// The next time at which `handleTimeout` must be called, or nil after the last announcement.
  package var nextTimeout: Instant? { next }

  /// Returns whether an announcement must be sent now.
  package mutating func handleTimeout(at now: Instant) -> Bool {
    guard let due = next, now >= due else { return false }
    sent += 1
    next = sent < Self.announcements ? now.advanced(by: Self.interval * (1 << (sent - 1))) : nil
    return true
  }
}
