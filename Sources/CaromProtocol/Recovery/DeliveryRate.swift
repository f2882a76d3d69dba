/// Measures the rate at which bytes are delivered (Cardwell et al., delivery rate estimation). Each
/// packet stores the number of bytes that had been delivered when it was sent. When the packet is
/// acknowledged, the bytes delivered since then are divided by the time in which they were sent or
/// acknowledged, whichever is longer. Times are in nanoseconds.
struct DeliveryRate: Sendable {
  struct Sample: Sendable {
    /// The delivery rate, in bytes per second.
    var rate: Double
    /// The number of bytes that had been delivered when the packet was sent.
    var priorDelivered: Int64
    /// Whether the application, not the path, limited the rate.
    var isAppLimited: Bool
  }

  /// The total number of bytes delivered so far.
  private(set) var delivered: Int64 = 0
  private var deliveredTime: Int64 = 0
  private var intervalStart: Int64 = 0
  /// The value of `delivered` up to which samples count as limited by the application.
  private var appLimitedUntil: Int64 = 0

  /// Stores the current state in a packet that is about to be sent. `inFlight` is the number of
  /// bytes in flight without this packet.
  mutating func stamp(_ packet: inout SentPacket, inFlight: Int, isAppLimited: Bool) {
    if inFlight == 0 { (intervalStart, deliveredTime) = (packet.sent, packet.sent) }
    if isAppLimited { appLimitedUntil = delivered + Int64(inFlight) + Int64(packet.bytes) }
    packet.delivered = delivered
    packet.deliveredTime = deliveredTime
    packet.intervalStart = intervalStart
    if delivered < appLimitedUntil { packet.traits.insert(.isAppLimited) }
  }

  /// Records that `bytes` more bytes were delivered.
  mutating func add(_ bytes: Int, at now: Int64) {
    delivered += Int64(bytes)
    deliveredTime = now
  }

  /// Returns the delivery rate over the interval that ends with the acknowledgement of `packet`,
  /// the newest acknowledged packet, which `add` must have counted. Returns nil if the interval is
  /// shorter than `minimum`, the shortest round-trip time, because such a sample is meaningless.
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
