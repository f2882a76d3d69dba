import CaromCore

/// When a link is dark: datagrams that would arrive then vanish, streams wait until it is over.
public enum Blackout: Hashable, Sendable {
  /// Again and again, the first at `from`.
  case every(Duration, lasting: Duration, from: Instant)
  /// At these times.
  case during([Range<Instant>])

  /// When it is over, if it is dark at `now`.
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
    precondition(length >= .zero && length < period, "a blackout is shorter than its period")
  }
}
