import CaromCore
import CaromProtocol
import Testing

/// Two channel sets, between which a test carries packets one by one.
struct ChannelPair {
  /// A packet with the records that its sender must get back.
  struct Packet {
    var bytes: [UInt8]
    var records: [FrameRecord]
  }

  /// A message that the owner has read.
  struct Arrival: Hashable {
    var channel: UInt8
    var delivery: Delivery
    var bytes: [UInt8]
  }

  var near = ChannelSet()
  var far = ChannelSet()
  var now = Instant.zero

  /// Queues a message that consists of one byte, repeated.
  @discardableResult
  mutating func send(
    _ byte: UInt8, length: Int = 1, on channel: UInt8 = 0, _ delivery: Delivery = .reliableOrdered,
    deadline: Duration? = nil, wantsReceipt: Bool = false
  ) throws(SendError) -> UInt64 {
    let bytes = [UInt8](repeating: byte, count: length)
    let options = SendOptions(
      delivery, deadline: deadline.map { now + $0 }, wantsReceipt: wantsReceipt)
    return try near.send(bytes.span, on: channel, options, at: now)
  }

  /// The next packet of the near side; `nil` if it has nothing to send.
  mutating func fill(
    limit: Int = 1200, redundancy: Double = 0, includeBulk: Bool = true, includeLatest: Bool = true
  ) -> Packet? {
    Self.fill(
      &near, limit: limit, redundancy: redundancy, includeBulk: includeBulk,
      includeLatest: includeLatest, at: now)
  }

  struct NothingToSend: Error {}

  /// The next packet of the near side. Throws if it has nothing to send.
  mutating func next(
    limit: Int = 1200, redundancy: Double = 0, includeBulk: Bool = true, includeLatest: Bool = true
  ) throws -> Packet {
    let packet = fill(
      limit: limit, redundancy: redundancy, includeBulk: includeBulk, includeLatest: includeLatest)
    guard let packet else { throw NothingToSend() }
    return packet
  }

  static func fill(
    _ set: inout ChannelSet, limit: Int = 1200, redundancy: Double = 0, includeBulk: Bool = true,
    includeLatest: Bool = true, at now: Instant
  ) -> Packet? {
    var writer = FrameWriter(limit: limit)
    var records: [FrameRecord] = []
    set.fill(
      &writer, records: &records, redundancy: redundancy, includeBulk: includeBulk,
      includeLatest: includeLatest, at: now)
    return writer.count == 0 ? nil : Packet(bytes: writer.takeBytes(), records: records)
  }

  /// Delivers a packet to the far side.
  mutating func deliver(_ packet: Packet) throws(DecodeError) {
    try Self.deliver(packet, to: &far, at: now)
  }

  static func deliver(
    _ packet: Packet, to set: inout ChannelSet, at now: Instant
  ) throws(DecodeError) {
    var ranges = AcknowledgedRanges()
    var reader = FrameReader(packet.bytes.span)
    while let frame = try reader.next(ranges: &ranges) {
      switch frame {
      case .message(let message): try set.receive(message)
      case .credit(let channel, let limit): set.handleCredit(channel: channel, limit: limit)
      default: break
      }
    }
  }

  mutating func acknowledge(_ packet: Packet) {
    for record in packet.records { near.handleAcknowledged(record, at: now) }
  }

  mutating func lose(_ packet: Packet) {
    for record in packet.records { near.handleLost(record, at: now) }
  }

  /// Carries packets in both directions until neither side has anything to send. Returns the number
  /// of packets from the near side.
  @discardableResult
  mutating func exchange(limit: Int = 1200, most: Int = .max) throws(DecodeError) -> Int {
    var count = 0
    try carryAnswers()
    while count < most, let packet = fill(limit: limit) {
      try deliver(packet)
      acknowledge(packet)
      count += 1
      try carryAnswers()
    }
    return count
  }

  /// Carries the packets of the far side.
  private mutating func carryAnswers() throws(DecodeError) {
    while let answer = Self.fill(&far, at: now) {
      try Self.deliver(answer, to: &near, at: now)
      for record in answer.records { far.handleAcknowledged(record, at: now) }
    }
  }

  /// Reads messages at the far side.
  mutating func take(_ most: Int = .max) -> [Arrival] {
    var arrivals: [Arrival] = []
    while arrivals.count < most,
      far.pollMessage({ channel, delivery, bytes in
        arrivals.append(Arrival(channel: channel, delivery: delivery, bytes: Array(copying: bytes)))
      })
    {}
    return arrivals
  }

  /// Reads all messages at the far side and returns their first bytes.
  mutating func takeFirstBytes() -> [UInt8] { take().map { $0.bytes.first ?? 0 } }

  /// Removes and returns the events of the near side.
  mutating func events() -> [ChannelEvent] {
    var events: [ChannelEvent] = []
    while let event = near.pollEvent() { events.append(event) }
    return events
  }
}

/// Passes frames to the receiving side, all in one packet.
func receive(_ frames: FrameValue..., in set: inout ChannelSet) throws {
  let bytes = try #require(encodeFrames(frames, limit: 1 << 21))
  try ChannelPair.deliver(ChannelPair.Packet(bytes: bytes, records: []), to: &set, at: .zero)
}

extension FrameValue {
  /// A message whose bytes are all the low byte of its number.
  static func filled(
    _ delivery: Delivery, _ number: UInt64, channel: UInt8 = 0, length: Int = 1
  ) -> FrameValue {
    .message(delivery, channel, number, [UInt8](repeating: UInt8(number & 0xFF), count: length))
  }
}
