import CaromCore

/// The times at which a service's recent changes were announced, which limit how often further
/// changes are announced. Questions are always answered with the newest records.
struct UpdateHistory: Sendable {
  /// The maximum number of changes within any `window` that are announced as soon as `interval`
  /// allows (RFC 6762 §8.4).
  static let limit = 10
  static let window = Duration.seconds(60)
  /// The minimum time between the announcements of two changes (RFC 6762 §6). Changes in between
  /// are announced together.
  static let interval = Duration.seconds(1)
  /// The time that must pass without a further change before a change beyond `limit` is announced.
  /// It is short, so that other hosts never show an old value for long.
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
