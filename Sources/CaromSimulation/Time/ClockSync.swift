/// Keeps two peers' ticks at the same height: each tells the other how far ahead it finds itself,
/// by the ticks that come in; the way there is in both figures, so that half their difference is
/// what counts, where both ways take the same time.
///
/// The answer is a speed: nobody waits a whole tick, everybody runs a little slower or faster.
public struct ClockSync: Hashable, Sendable {
  /// The most that a clock runs faster or slower, millionths: 2 %.
  public static let usualLimit = 20_000
  /// While peers are more than `farAhead` apart: 5 %.
  public static let hurriedLimit = 50_000
  /// Ticks.
  public static let farAhead = 4.0
  /// How much of a difference is taken back in a second.
  static let gain = 0.5

  /// How far ahead of the peer's newest known tick this side was when it came, ticks, averaged.
  public private(set) var advantage = 0.0
  /// The same of the other side, as it says.
  public private(set) var peerAdvantage = 0.0
  private var samples = 0
  private var peerSamples = 0

  /// Nothing known yet.
  public init() {}

  /// Notes a tick of the peer that came when this side was at `local`, with fraction.
  public mutating func recordPeerTick(_ peerTick: Tick, at local: Tick, fraction: Double) {
    let sample = Double(peerTick.distance(to: local)) + fraction
    let weight = max(1 / 32, 1 / Double(samples + 1))
    advantage += (sample - advantage) * weight
    samples = min(samples + 1, 32)
  }

  /// Notes what the peer says of itself, ticks.
  public mutating func recordPeerAdvantage(_ value: Double) {
    let weight = max(1 / 8, 1 / Double(peerSamples + 1))
    peerAdvantage += (value - peerAdvantage) * weight
    peerSamples = min(peerSamples + 1, 8)
  }

  /// By how many ticks this side is ahead; 0 until both sides were heard.
  public var lead: Double {
    samples > 0 && peerSamples > 0 ? (advantage - peerAdvantage) / 2 : 0
  }

  /// The speed that brings the peers together: 1,000,000 for a clock that runs as it is. `lead` is
  /// how far ahead this side is, ticks; `rate` is the ticks of a second.
  public static func speed(lead: Double, rate: Int) -> Int {
    let limit = lead.magnitude > farAhead ? hurriedLimit : usualLimit
    let wanted = -lead * gain / Double(rate) * 1e6
    return 1_000_000 + Int(min(max(wanted, -Double(limit)), Double(limit)))
  }

  /// In the sixteenths of a tick that a packet carries.
  var sixteenths: Int16 { Int16(min(max(advantage * 16, -32_000), 32_000)) }
}
