/// What a sender remembers of a packet until it is acknowledged or given up.
struct SentPacket: Sendable {
  struct Traits: OptionSet, Sendable {
    let rawValue: UInt8
    /// The peer answers it; only such packets count as in flight.
    static let isAckEliciting = Traits(rawValue: 1)
    /// It tries a larger size: its loss says nothing about the rate.
    static let probesMTU = Traits(rawValue: 2)
    /// The application had nothing more to send.
    static let isAppLimited = Traits(rawValue: 4)
    /// It left while the sender kept below what the path carries: its loss is not its own doing.
    static let isCalm = Traits(rawValue: 8)
  }

  static let free = SentPacket(sent: 0, bytes: 0, traits: [])

  /// Nanoseconds on the sender's clock.
  var sent: Int64
  /// The bytes that had been delivered when it left, and when the last of them was.
  var delivered: Int64 = 0
  var deliveredTime: Int64 = 0
  /// When the first packet of the interval left that its delivery closes.
  var intervalStart: Int64 = 0
  /// When it was given up.
  var lostTime: Int64 = 0
  /// Where its records begin in the ring of records.
  var recordsStart: UInt64 = 0
  var recordCount: UInt32 = 0
  /// With the headers of IP and UDP.
  var bytes: Int32
  /// Its neighbours in the list that it is in: the low bits of their numbers.
  var next: UInt32 = 0
  var previous: UInt32 = 0
  var traits: Traits

  init(sent: Int64, bytes: Int, traits: Traits) {
    self.sent = sent
    self.bytes = Int32(truncatingIfNeeded: bytes)
    self.traits = traits
  }
}
