import CaromCore

/// The round trip to a peer and the offset of its clock, from pings.
///
/// The offset is taken from the quickest of the last samples, since queues only ever add time
/// (RFC 5905 §10 filters clocks the same way).
public struct RoundTrip: Hashable, Sendable {
  /// How many samples the window holds.
  public static let window = 8

  private struct Sample: Hashable, Sendable {
    var roundTrip: Duration
    var offset: Duration
  }
  private var samples: [Sample] = []

  /// The newest sample; `nil` before the first.
  public private(set) var latest: Duration?

  /// The smoothed round trip (gain 1/8, RFC 6298 §2); `nil` before the first sample.
  public private(set) var smoothed: Duration?

  /// Nothing measured.
  public init() {}

  /// The peer's clock minus this one's; `nil` before the first sample.
  public var clockOffset: Duration? {
    samples.min { $0.roundTrip < $1.roundTrip }?.offset
  }

  /// Takes an answer that came at `now` to a ping sent at `sent`; `remote` is the peer's clock.
  mutating func add(sent: Instant, remote: Instant, now: Instant) {
    let roundTrip = sent.duration(to: now)
    guard roundTrip >= .zero else { return }
    latest = roundTrip
    smoothed = smoothed.map { $0 + (roundTrip - $0) / 8 } ?? roundTrip
    if samples.count == Self.window { samples.removeFirst() }
    let middle = sent.advanced(by: roundTrip / 2)
    samples.append(Sample(roundTrip: roundTrip, offset: middle.duration(to: remote)))
  }
}
