import CaromCore

/// Tells a link what is new: twice, a second apart (RFC 6762 §8.3).
package struct Announcer: Hashable, Sendable {
  /// How often it tells.
  static let announcements = 2
  /// Between the first two.
  static let interval = Duration.seconds(1)

  private var sent = 0
  private var next: Instant?

  /// Tells first at `start`.
  package init(start: Instant) { next = start }

  /// When it wants to be called next; `nil` once it is done.
  package var nextTimeout: Instant? { next }

  /// Time has passed; `true` asks for an announcement now.
  package mutating func handleTimeout(at now: Instant) -> Bool {
    guard let due = next, now >= due else { return false }
    sent += 1
    next = sent < Self.announcements ? now.advanced(by: Self.interval * (1 << (sent - 1))) : nil
    return true
  }
}
