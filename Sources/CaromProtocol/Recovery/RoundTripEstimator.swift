/// The round trip of a path: the latest, smoothed (RFC 6298), and the least of a while.
/// Everything is nanoseconds.
package struct RoundTripEstimator: Sendable {
  /// What is assumed before the first sample.
  package static let initial: Int64 = 200_000_000
  /// How long the least round trip is believed without a sample that comes near it.
  static let minimumLifetime: Int64 = 10_000_000_000
  /// What the peer's timer adds to an acknowledgement that one packet alone elicits.
  static let maximumHold: Int64 = 25_000_000
  /// The shortest time-out of a probe: processes stall that long on a quiet network.
  static let shortestTimeout: Int64 = 5_000_000

  package private(set) var hasSample = false
  package private(set) var latest: Int64
  package private(set) var smoothed: Int64
  package private(set) var variation: Int64
  package private(set) var minimum: Int64
  /// When a sample last came near the minimum.
  private(set) var minimumTime: Int64 = 0

  package init(assuming initial: Int64 = initial) {
    latest = initial
    smoothed = initial
    variation = initial / 2
    minimum = initial
  }

  /// Takes a sample; `hold` is what the peer held the acknowledgement back.
  mutating func add(_ sample: Int64, at now: Int64) {
    let sample = max(sample, 1)
    latest = sample
    guard hasSample else {
      hasSample = true
      (smoothed, variation) = (sample, sample / 2)
      (minimum, minimumTime) = (sample, now)
      return
    }
    variation += (abs(smoothed - sample) - variation) / 4
    smoothed += (sample - smoothed) / 8
    if sample <= minimum + minimum / 32 { minimumTime = now }
    minimum = min(minimum, sample)
  }

  /// No sample came near the minimum for long: the way may have got longer.
  func isMinimumStale(at now: Int64) -> Bool {
    hasSample && now - minimumTime > Self.minimumLifetime
  }

  /// Believes the least round trip of a time in which nothing queued.
  mutating func replaceMinimum(with value: Int64, at now: Int64) {
    (minimum, minimumTime) = (value, now)
  }

  /// How long an answer may take before a probe asks for it (RFC 8985 §7.2).
  var probeTimeout: Int64 {
    max(smoothed + min(4 * variation, smoothed), Self.shortestTimeout)
  }
}
