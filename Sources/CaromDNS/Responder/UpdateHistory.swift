import CaromCore

/// The times at which a service's recent changes were announced, which limit how often further
/// changes are announced. Questions are always answered with the newest records.
struct UpdateHistory: Sendable {
  /// The number of changes in a row that are announced as soon as `interval` allows, in any
  /// `window` (RFC 6762 §8.4).
  static let limit = 10
  static let window = Duration.seconds(60)
  /// The minimum time between the announcements of two changes (RFC 6762 §6). Changes in between
  /// are announced together.
  static let interval = Duration.seconds(1)
  /// Beyond `limit`, a change is announced when this time has passed without a further change, so
  /// that other hosts never show an old value for long.
  static let quietPeriod = Duration.milliseconds(1500)

  /// The times of the announcements, in ascending order. Only the last may be in the future.
  private var times: [Instant] = []

  /// Adds a change at `now`, and returns the time at which to announce it together with the changes
  /// that have not been announced yet.
  mutating func schedule(at now: Instant) -> Instant {
    if let last = times.last, last > now { times.removeLast() }
    times = times.suffix(Self.limit)
    let due = announcementTime(at: now)
    times.append(due)
    return due
  }

  private func announcementTime(at now: Instant) -> Instant {
    guard let first = times.first, let last = times.last else { return now }
    let earliest = max(now, last.advanced(by: Self.interval))
    guard times.count == Self.limit else { return earliest }
    let allowed = first.advanced(by: Self.window)
    return max(earliest, min(allowed, now.advanced(by: Self.quietPeriod)))
  }
}
