import CaromCore

/// The round-trip time to a peer and the offset of its clock, measured with pings.
///
/// The offset is taken from the fastest of the recent samples, because queues can only add delay
/// (RFC 5905 §10 filters clock samples in the same way).
public struct RoundTrip: Hashable, Sendable {
  /// The number of recent samples from which the clock offset is chosen.
  public static let window = 8

  /// A sample, in nanoseconds.
  private struct Sample: Hashable, Sendable {
    var roundTrip: Int64
    var offset: Int64
  }
  private var samples: [Sample] = []

  /// The newest sample of the round-trip time; `nil` before the first sample.
  public private(set) var latest: Duration?

  /// The smoothed round-trip time (gain 1/8, RFC 6298 §2); `nil` before the first sample.
  public private(set) var smoothed: Duration?

  /// Creates a measurement without samples.
  public init() {}

  /// The peer's clock minus the local clock; `nil` before the first sample.
  public var clockOffset: Duration? {
    samples.min { $0.roundTrip < $1.roundTrip }.map { .nanoseconds($0.offset) }
  }

  /// Adds the sample of a ping that was sent at `sent` and whose answer arrived at `now`. `remote`
  /// is the time on the peer's clock that the answer contains.
  mutating func add(sent: Instant, remote: Instant, now: Instant) {
    let nanoseconds = now.nanoseconds - sent.nanoseconds
    guard nanoseconds >= 0 else { return }
    let roundTrip = Duration.nanoseconds(nanoseconds)
    latest = roundTrip
    smoothed = smoothed.map { $0 + (roundTrip - $0) / 8 } ?? roundTrip
    if samples.count == Self.window { samples.removeFirst() }
    let middle = sent.nanoseconds + nanoseconds / 2
    samples.append(Sample(roundTrip: nanoseconds, offset: remote.nanoseconds &- middle))
  }
}
