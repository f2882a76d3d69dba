import CaromCore

/// Reads the frames of a packet. A reader accepts only the encoding that `FrameWriter` produces, so
/// that decoding a packet and encoding it again yields the same bytes.
package struct FrameReader: ~Escapable {
  private var reader: PacketReader
  private var previous = PreviousMessage()

  /// Creates a reader of `bytes`: a packet without its header.
  @_lifetime(copy bytes)
  package init(_ bytes: Span<UInt8>) { reader = PacketReader(bytes) }

  /// Creates a reader of the bytes that remain in `reader` after a packet's header.
  @_lifetime(copy reader)
  package init(_ reader: PacketReader) { self.reader = reader }

  /// The number of bytes read so far, including those read from the `PacketReader` before it was
  /// passed to the initializer.
  var offset: Int { reader.offset }

  /// Reads and returns the next frame, or nil at the packet's end. The ranges of an acknowledgement
  /// are stored in `ranges`, whose storage is reused so that nothing is allocated.
  @_lifetime(copy self)
  package mutating func next(ranges: inout AcknowledgedRanges) throws(DecodeError) -> Frame? {
    guard reader.remaining > 0 else { return nil }
    let lead = try reader.read(UInt8.self)
    if lead & FrameByte.message != 0 { return .message(try readMessage(lead)) }
    switch lead {
    case FrameByte.padding: return .padding(try readPadding())
    case FrameByte.ping: return .ping
    case FrameByte.acknowledgement: return .acknowledgement(try readRanges(into: &ranges))
    case FrameByte.credit:
      let channel = try readChannel(atLeast: 0)
      return .credit(channel: channel, limit: try reader.readVarInt())
    default: throw .invalid(what: "frame")
    }
  }

  @_lifetime(copy self)
  private mutating func readMessage(_ lead: UInt8) throws(DecodeError) -> MessageFrame {
    let mode = lead >> 4 & 7
    if mode == FrameByte.nextMode { return try readNext(lead) }
    let channel = try readChannel(of: lead)
    if mode == FrameByte.fragmentMode { return try readFragment(channel) }
    let delivery = try readDelivery(mode)
    guard delivery.isNumbered else {
      previous.reset()
      return MessageFrame(
        delivery: delivery, channel: channel, number: 0, payload: try readPayload())
    }
    let number = try reader.read(UInt16.self)
    guard !previous.isFollowed(by: delivery, channel, number) else {
      throw .invalid(what: "message: not the shortest form")
    }
    previous.set(delivery, channel, number)
    return MessageFrame(
      delivery: delivery, channel: channel, number: number, payload: try readPayload())
  }

  /// Reads a message whose channel and delivery are the same as those of the previous message, and
  /// whose number is the next one.
  @_lifetime(copy self)
  private mutating func readNext(_ lead: UInt8) throws(DecodeError) -> MessageFrame {
    guard previous.isSet, lead == FrameByte.message(FrameByte.nextMode, previous.channel)
    else { throw .invalid(what: "next message: none before it on the channel") }
    previous.advance()
    return MessageFrame(
      delivery: previous.delivery, channel: previous.channel, number: previous.number,
      payload: try readPayload())
  }

  @_lifetime(copy self)
  private mutating func readFragment(_ channel: UInt8) throws(DecodeError) -> MessageFrame {
    previous.reset()
    let delivery = try readDelivery(try reader.read())
    let number = try reader.read(UInt16.self)
    let total = try readSize(limit: MessageFrame.maximumMessage)
    let offset = try readSize(limit: total)
    let payload = try readPayload()
    guard payload.count >= 1 else { throw .invalid(what: "fragment: no bytes") }
    guard payload.count <= total - offset else { throw .invalid(what: "fragment: past the end") }
    return MessageFrame(
      fragmentOf: total, at: offset, delivery: delivery, channel: channel, number: number,
      payload: payload)
  }

  private func readDelivery(_ byte: UInt8) throws(DecodeError) -> Delivery {
    guard let delivery = Delivery(rawValue: byte) else { throw .invalid(what: "message mode") }
    return delivery
  }

  /// Reads the channel's number from the first byte `lead` or, for channel 15 and above, from the
  /// next byte.
  private mutating func readChannel(of lead: UInt8) throws(DecodeError) -> UInt8 {
    let bits = lead & 15
    return bits < FrameByte.channelFollows ? bits : try readChannel(atLeast: bits)
  }

  private mutating func readChannel(atLeast lowest: UInt8) throws(DecodeError) -> UInt8 {
    let channel = try reader.read(UInt8.self)
    guard channel >= lowest, channel <= MessageFrame.sessionChannel else {
      throw .invalid(what: "channel")
    }
    return channel
  }

  private mutating func readSize(limit: Int) throws(DecodeError) -> Int {
    let value = try reader.readVarInt()
    guard value <= UInt64(limit) else { throw .tooLarge(length: value, limit: UInt64(limit)) }
    return Int(value)
  }

  /// Reads a length and returns that many of the bytes that follow it.
  @_lifetime(copy self)
  @inline(__always)
  private mutating func readPayload() throws(DecodeError) -> Span<UInt8> {
    let length = try reader.readVarInt()
    guard length <= UInt64(reader.remaining) else {
      throw .truncated(wanted: Int(clamping: length), remaining: reader.remaining)
    }
    return try reader.readSpan(Int(length))
  }

  private mutating func readPadding() throws(DecodeError) -> Int {
    var count = 1
    while reader.remaining > 0 {
      guard try reader.read(UInt8.self) == 0 else { throw .invalid(what: "padding") }
      count += 1
    }
    return count
  }

  private mutating func readRanges(
    into ranges: inout AcknowledgedRanges
  ) throws(DecodeError) -> AckDelay {
    ranges.removeAll()
    var upper = try reader.readVarInt()
    let ackDelay = AckDelay(byte: try reader.read())
    let further = try readSize(limit: AcknowledgedRanges.maximumCount - 1)
    for index in 0...further {
      if index > 0 {
        let missing = try reader.readVarInt()
        guard missing <= .max - 2, upper >= missing + 2 else {
          throw .invalid(what: "acknowledgement: below 0")
        }
        upper -= missing + 2
      }
      let more = try reader.readVarInt()
      guard more <= upper else { throw .invalid(what: "acknowledgement: below 0") }
      ranges.append(upper - more...upper)
      upper -= more
    }
    return ackDelay
  }
}
