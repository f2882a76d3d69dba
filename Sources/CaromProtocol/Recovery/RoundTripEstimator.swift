/// The round-trip time of a path: the latest sample, the smoothed value (RFC 6298) and the recent
/// minimum. All values are in nanoseconds.
package struct RoundTripEstimator: Sendable {
  /// The round-trip time assumed before the first sample: 200 ms.
  package static let initial: Int64 = 200_000_000
  /// The time for which the minimum is trusted without another sample close to it: 10 s.
  private static let minimumLifetime: Int64 = 10_000_000_000
  /// The maximum time for which the peer delays the acknowledgement of a single ack-eliciting
  /// packet: 25 ms.
  static let maximumAckDelay: Int64 = 25_000_000
  /// The minimum probe timeout: 5 ms. A peer whose process is not scheduled can take that long to
  /// acknowledge, even on an idle network.
  private static let shortestTimeout: Int64 = 5_000_000

  /// The latest sample of the round-trip time, in nanoseconds.
  package private(set) var latest: Int64
  /// The exponentially weighted moving average of the round-trip samples, in nanoseconds.
  package private(set) var smoothed: Int64
  /// The mean deviation of the round-trip samples from `smoothed`, in nanoseconds.
  package private(set) var variation: Int64
  /// The shortest recent sample of the round-trip time, in nanoseconds.
  package private(set) var minimum: Int64
  /// The time, in nanoseconds, of the last sample that was at most 1/32 longer than the minimum.
  private var minimumTime: Int64 = 0
  package private(set) var hasSample = false

  package init(assuming initial: Int64 = initial) {
    latest = initial
    smoothed = initial
    variation = initial / 2
    minimum = initial
  }

  /// Adds a sample in nanoseconds, from which the acknowledgement delay has already been
  /// subtracted.
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

  /// Returns whether no sample has come near the minimum for 10 s, in which case the path may have
  /// become longer.
  func isMinimumStale(at now: Int64) -> Bool {
    hasSample && now - minimumTime > Self.minimumLifetime
  }

  /// Replaces the minimum with a value that was measured while no queue built up.
  mutating func replaceMinimum(with value: Int64, at now: Int64) {
    (minimum, minimumTime) = (value, now)
  }

  /// The probe timeout in nanoseconds: the time to wait for an acknowledgement before a probe is
  /// sent (RFC 8985 §7.2).
  var probeTimeout: Int64 {
    max(smoothed + min(4 * variation, smoothed), Self.shortestTimeout)
  }
}
