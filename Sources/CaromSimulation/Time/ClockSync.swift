/// Estimates how far this peer's clock runs ahead of another peer's, and chooses the speed that
/// closes the gap.
///
/// Each peer measures its advantage: how far its own tick is ahead of the newest tick received from
/// the other peer. Both measurements contain the one-way delay. If the two directions take equally
/// long, the offset between the clocks, `offset`, is half of the difference between the two
/// advantages. The correction is a small change in speed; no peer ever waits for a whole tick.
public struct ClockSync: Hashable, Sendable {
  /// The maximum change in the clock's speed in normal play: 2 % of real time, in parts per
  /// million.
  public static let usualLimit = 20_000
  /// The maximum change in the clock's speed while the peers are more than `farAhead` ticks apart,
  /// in parts per million of real time: 5 %.
  public static let hurriedLimit = 50_000
  /// The offset in ticks above which `hurriedLimit` applies.
  public static let farAhead = 4.0
  /// The fraction of the offset that is corrected per second.
  static let gain = 0.5

  /// How far this side's tick is ahead of the newest tick received from the peer, in ticks,
  /// averaged over the received packets.
  public private(set) var advantage = 0.0
  /// The peer's advantage over this side in ticks, averaged over the peer's reports.
  public private(set) var peerAdvantage = 0.0
  private var samples = 0
  private var peerSamples = 0

  /// Creates a clock synchronizer without measurements.
  public init() {}

  /// Records a packet in which the peer reported that it was at `peerTick`. The packet arrived when
  /// this side was at tick `local` plus `fraction`.
  public mutating func recordPeerTick(_ peerTick: Tick, at local: Tick, fraction: Double) {
    let sample = Double(peerTick.distance(to: local)) + fraction
    let weight = max(1 / 32, 1 / Double(samples + 1))
    advantage += (sample - advantage) * weight
    samples = min(samples + 1, 32)
  }

  /// Records the peer's advantage over this side, in ticks, as the peer reported it.
  public mutating func recordPeerAdvantage(_ value: Double) {
    let weight = max(1 / 8, 1 / Double(peerSamples + 1))
    peerAdvantage += (value - peerAdvantage) * weight
    peerSamples = min(peerSamples + 1, 8)
  }

  /// The offset of this side's clock from the peer's clock, in ticks. It is positive if this side
  /// is ahead, and nil until both sides have measured.
  public var offset: Double? {
    samples > 0 && peerSamples > 0 ? (advantage - peerAdvantage) / 2 : nil
  }

  /// Returns the clock speed, in parts per million of real time, that reduces this side's lead to
  /// 0. `lead` is how many ticks this side is ahead, and `rate` is the number of ticks per second.
  public static func speed(lead: Double, rate: Int) -> Int {
    let limit = lead.magnitude > farAhead ? hurriedLimit : usualLimit
    let wanted = -lead * gain / Double(rate) * 1e6
    return 1_000_000 + Int(min(max(wanted, -Double(limit)), Double(limit)))
  }

  /// The advantage in sixteenths of a tick, as packets carry it.
  var sixteenths: Int16 { Int16(min(max(advantage * 16, -32_000), 32_000)) }
}
