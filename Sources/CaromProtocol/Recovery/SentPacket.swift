/// The sender's record of a packet, kept until the packet is acknowledged. The record of a lost
/// packet is kept for a while longer and then removed. Times are in nanoseconds on the sender's
/// clock.
struct SentPacket: Sendable {
  struct Traits: OptionSet, Sendable {
    let rawValue: UInt8
    /// The peer must acknowledge the packet. Only such packets count as in flight.
    static let isAckEliciting = Traits(rawValue: 1)
    /// The packet probes for a larger path MTU. Its loss says nothing about the sending rate.
    static let isMTUProbe = Traits(rawValue: 2)
    /// The application had no more data to send when the packet was sent.
    static let isAppLimited = Traits(rawValue: 4)
    /// The sender was sending below the path's bandwidth, so it cannot have caused the packet's
    /// loss.
    static let isCalm = Traits(rawValue: 8)
  }

  /// The content of an unused slot in a ring of packets.
  static let free = SentPacket(sent: 0, bytes: 0, traits: [])

  /// The time at which the packet was sent, in nanoseconds.
  var sent: Int64
  /// The number of bytes that had been delivered when the packet was sent.
  var delivered: Int64 = 0
  /// The time at which the last of the bytes counted by `delivered` was delivered, in nanoseconds.
  var deliveredTime: Int64 = 0
  /// The send time, in nanoseconds, of the first packet in the interval over which the delivery
  /// rate is measured. Once the packet was declared lost, the property is `lostTime`.
  var intervalStart: Int64 = 0
  /// The position of the packet's first frame record in the ring of records.
  var recordsStart: UInt64 = 0
  /// The largest packet number that an acknowledgement in the packet reports; `.max` without one.
  /// Most packets contain nothing else that needs a record.
  var acknowledged = UInt64.max
  var recordCount: UInt16 = 0
  var traits: Traits
  /// The datagram's length in bytes, IP and UDP headers included.
  var bytes: Int32
  /// The next packet in the same list: the low 32 bits of its number.
  var next: UInt32 = 0
  /// The previous packet in the same list: the low 32 bits of its number.
  var previous: UInt32 = 0

  /// The time at which the packet was declared lost, in nanoseconds.
  var lostTime: Int64 {
    get { intervalStart }
    set { intervalStart = newValue }
  }

  init(sent: Int64, bytes: Int, traits: Traits) {
    self.sent = sent
    self.bytes = Int32(truncatingIfNeeded: bytes)
    self.traits = traits
  }
}
