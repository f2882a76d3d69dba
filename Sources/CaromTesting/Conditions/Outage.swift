import CaromCore

/// The times at which a link is down. Datagrams that would arrive then are lost; streams are
/// delayed until the outage ends.
public enum Outage: Hashable, Sendable {
  /// Periodic outages. The first value is the period from the start of one outage to the start of
  /// the next, `lasting` is the length of each outage, and `from` is the start of the first one.
  case every(Duration, lasting: Duration, from: Instant)
  /// Outages at the given times.
  case during([Range<Instant>])

  /// Returns the end of the outage that is in progress at `now`, or nil if the link is up.
  func end(at now: Instant) -> Instant? {
    switch self {
    case .every(let period, let length, let first):
      guard now >= first else { return nil }
      let since = (now - first).wholeNanoseconds % period.wholeNanoseconds
      let left = length.wholeNanoseconds - since
      return left > 0 ? now.advanced(byNanoseconds: left) : nil
    case .during(let times): return times.first { $0.contains(now) }?.upperBound
    }
  }

  func check() {
    guard case .every(let period, let length, _) = self else { return }
    precondition(length >= .zero && length < period, "an outage must be shorter than its period")
  }
}
