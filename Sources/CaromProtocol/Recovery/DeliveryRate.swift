/// How fast bytes come through: each packet notes how much had been delivered when it left, and its
/// acknowledgement closes an interval (Cardwell and others, delivery rate estimation).
struct DeliveryRate: Sendable {
  struct Sample: Sendable {
    /// Bytes a second.
    var rate: Double
    /// What had been delivered when the packet left.
    var priorDelivered: Int64
    var isAppLimited: Bool
  }

  private(set) var delivered: Int64 = 0
  private var deliveredTime: Int64 = 0
  private var intervalStart: Int64 = 0
  /// Samples are limited by the application until so much is delivered.
  private var appLimitedUntil: Int64 = 0

  /// Notes in a packet what there is when it leaves; `inFlight` is without it.
  mutating func stamp(_ packet: inout SentPacket, inFlight: Int, isAppLimited: Bool) {
    if inFlight == 0 { (intervalStart, deliveredTime) = (packet.sent, packet.sent) }
    if isAppLimited { appLimitedUntil = delivered + Int64(inFlight) + Int64(packet.bytes) }
    packet.delivered = delivered
    packet.deliveredTime = deliveredTime
    packet.intervalStart = intervalStart
    if delivered < appLimitedUntil { packet.traits.insert(.isAppLimited) }
  }

  /// Bytes came through.
  mutating func add(_ bytes: Int, at now: Int64) {
    delivered += Int64(bytes)
    deliveredTime = now
  }

  /// What the acknowledgement of the newest packet tells, after `add`; `nil` when its interval is
  /// shorter than the shortest round trip and says nothing.
  mutating func sample(closing packet: borrowing SentPacket, minimum: Int64) -> Sample? {
    intervalStart = packet.sent
    let interval = max(
      packet.sent - packet.intervalStart, deliveredTime - packet.deliveredTime)
    guard interval > 0, interval >= minimum else { return nil }
    return Sample(
      rate: Double(delivered - packet.delivered) * 1e9 / Double(interval),
      priorDelivered: packet.delivered, isAppLimited: packet.traits.contains(.isAppLimited))
  }
}
