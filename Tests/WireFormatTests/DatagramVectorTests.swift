import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// Compares the session's datagrams with the vectors in `datagrams.txt`.
@Suite struct DatagramVectorTests {
  /// A function that writes a datagram into an empty writer.
  typealias Maker = @Sendable (inout FrameWriter) -> Void

  let vectors: [String: [UInt8]]

  init() throws { vectors = try WireVectors.load("datagrams.txt") }

  private static let key = ConnectionKey(prefix: 0x0807_0605_0403_0201, rest: 0x100F_0E0D_0C0B_0A09)
  private static let cookie = Cookie(bits: 0xA8A7_A6A5_A4A3_A2A1)

  private static let datagrams: [String: Maker] = [
    "hello before its padding": {
      Hello(key: key, epoch: 1, resumes: false, cookie: nil).write(to: &$0)
    },
    "hello with a cookie and a packet": {
      Hello(key: key, epoch: 0x0102_0304, resumes: true, cookie: cookie).write(to: &$0)
      DataHeader(role: .initiator, number: 7, numberLength: 2).write(to: &$0)
      _ = $0.appendPing()
    },
    "hello with a token and a packet": {
      let token = AddressToken(Array(0xB1...0xC8))
      Hello(key: key, epoch: 1, resumes: false, cookie: nil, token: token).write(to: &$0)
      DataHeader(role: .initiator, number: 0, numberLength: 2).write(to: &$0)
      _ = $0.appendPing()
    },
    "retry of a hello": { writer in
      if let cookie { Retry(cookie: cookie, keyPrefix: key.prefix).write(to: &writer) }
    },
    "retry of a data packet": { writer in
      if let cookie { Retry(cookie: cookie, keyPrefix: nil).write(to: &writer) }
    },
    "refusal": {
      Refusal(keyPrefix: key.prefix, reason: Goodbye.Code.full.rawValue).write(to: &$0)
    },
    "data packet with an acknowledgement in its head": {
      let short = ShortAcknowledgement(
        largest: 0x5678, ackDelay: AckDelay(nanoseconds: 19_999_999))
      DataHeader(role: .responder, number: 0xFF_1234, numberLength: 2, acknowledgement: short)
        .write(to: &$0)
    },
    "data packet with the longest number": {
      DataHeader(role: .initiator, number: 0xFF_1234_5678, numberLength: 4).write(to: &$0)
    },
    "data packet with a number of three bytes": {
      DataHeader(role: .responder, number: 0xFF_1234_56, numberLength: 3).write(to: &$0)
    },
    "messages of each mode": {
      begin(&$0)
      append("abc", .unreliable, 0, 0, to: &$0)
      append("", .unreliableSequenced, 14, 0x0102, to: &$0)
      append("a", .reliableOrdered, 15, 0xFF_FFFF, to: &$0)
      append("b", .reliableUnordered, 3, 0, to: &$0)
      append("c", .reliableSequenced, 64, 7, to: &$0)
    },
    "messages that follow each other": {
      begin(&$0)
      append("a", .reliableOrdered, 1, 0x1_FFFE, to: &$0)
      append("b", .reliableOrdered, 1, 0x1_FFFF, to: &$0)
      _ = $0.appendPing()
      append("c", .reliableOrdered, 1, 0x2_0000, to: &$0)
      append("", .reliableUnordered, 16, 5, to: &$0)
      append("", .reliableUnordered, 16, 6, to: &$0)
    },
    "fragments of a message": {
      DataHeader(role: .responder, number: 0, numberLength: 2).write(to: &$0)
      appendFragment("ab", at: 0, to: &$0)
      appendFragment("yz", at: 1_998, to: &$0)
    },
    "acknowledgement of one range": {
      begin(&$0)
      append([300...300], ackDelay: AckDelay(byte: 0), to: &$0)
    },
    "acknowledgement of three ranges": {
      begin(&$0)
      append([300...300, 2...298, 0...0], ackDelay: .longest, to: &$0)
    },
    "credit and padding": {
      begin(&$0)
      _ = $0.appendCredit(channel: 64, limit: 262_144)
      $0.appendPadding(to: $0.count + 3)
    },
    "ping of the session": { writer in
      begin(&writer)
      var body = PacketWriter()
      ControlPacket.ping(sent: 0x0123_4567_89AB_CDEF).packet.encode(into: &body)
      _ = writer.appendMessage(.unreliable, channel: 64, number: 0, body.bytes.span)
    },
  ]

  private static func begin(_ writer: inout FrameWriter) {
    DataHeader(role: .initiator, number: 0, numberLength: 2).write(to: &writer)
  }

  private static func append(
    _ text: String, _ delivery: Delivery, _ channel: UInt8, _ number: UInt64,
    to writer: inout FrameWriter
  ) {
    _ = writer.appendMessage(delivery, channel: channel, number: number, Array(text.utf8).span)
  }

  private static func appendFragment(_ text: String, at offset: Int, to writer: inout FrameWriter) {
    _ = writer.appendFragment(
      .reliableOrdered, channel: 2, number: 9, total: 2_000, offset: offset, Array(text.utf8).span)
  }

  private static func append(
    _ list: [ClosedRange<UInt64>], ackDelay: AckDelay, to writer: inout FrameWriter
  ) {
    var ranges = AcknowledgedRanges()
    for range in list { ranges.append(range) }
    _ = writer.appendAcknowledgement(ranges, ackDelay: ackDelay)
  }

  /// The datagram of the vector with this name, with padding added to the hello.
  private func datagram(_ name: String) -> [UInt8]? {
    guard let bytes = vectors[name] else { return nil }
    guard name == "hello before its padding" else { return bytes }
    return bytes + [UInt8](repeating: 0, count: 1_200 - bytes.count)
  }

  @Test func `every datagram has a vector and every vector has a datagram`() {
    #expect(vectors.keys.sorted() == Self.datagrams.keys.sorted())
  }

  @Test func `encoding a datagram yields its vector`() {
    for (name, write) in Self.datagrams {
      var writer = FrameWriter(limit: 1_200)
      write(&writer)
      #expect(writer.bytes == datagram(name), "\(name)")
    }
  }

  @Test func `decoding a vector and encoding the result yields the vector`() throws {
    for name in vectors.keys {
      let bytes = try #require(datagram(name))
      var reader = PacketReader(bytes.span)
      var writer = FrameWriter(limit: 1_200)
      try Self.rewrite(&reader, to: &writer)
      if reader.remaining > 0 { try Self.rewrite(&reader, to: &writer) }
      #expect(writer.bytes == bytes, "\(name)")
    }
  }

  /// Decodes a datagram and encodes the result. A packet after a hello is left in `reader`.
  private static func rewrite(
    _ reader: inout PacketReader, to writer: inout FrameWriter
  ) throws(DecodeError) {
    switch try SessionDatagram(decoding: &reader) {
    case .hello(let hello): hello.write(to: &writer)
    case .retry(let retry): retry.write(to: &writer)
    case .refusal(let refusal): refusal.write(to: &writer)
    case .handshake(let part): part.write(to: &writer)
    case .data(let header):
      header.write(to: &writer)
      var frames = FrameReader(reader)
      try rewriteFrames(&frames, to: &writer)
      _ = reader.readRest()
    }
  }

  private static func rewriteFrames(
    _ frames: inout FrameReader, to writer: inout FrameWriter
  ) throws(DecodeError) {
    var ranges = AcknowledgedRanges()
    while let frame = try frames.next(ranges: &ranges) {
      switch frame {
      case .message(let message): rewrite(message, to: &writer)
      case .ping: _ = writer.appendPing()
      case .acknowledgement(let ackDelay):
        _ = writer.appendAcknowledgement(ranges, ackDelay: ackDelay)
      case .credit(let channel, let limit):
        _ = writer.appendCredit(channel: channel, limit: limit)
      case .padding(let count): writer.appendPadding(to: writer.count + count)
      }
    }
  }

  private static func rewrite(_ message: borrowing MessageFrame, to writer: inout FrameWriter) {
    let number = UInt64(message.number)
    if message.isFragment {
      _ = writer.appendFragment(
        message.delivery, channel: message.channel, number: number, total: message.total,
        offset: message.offset, message.payload)
    } else {
      _ = writer.appendMessage(
        message.delivery, channel: message.channel, number: number, message.payload)
    }
  }

  @Test func `packet numbers expand as in the table of the WireFormat page`() {
    let rows: [(UInt64?, [UInt8], UInt64)] = [
      (nil, [7, 0], 7), (65_534, [1, 0], 65_537), (65_537, [0xFF, 0xFF], 65_535),
      (0xA82F_30EA, [0x32, 0x9B], 0xA82F_9B32),
    ]
    for (largest, bytes, number) in rows {
      let low = UInt64(bytes[0]) | UInt64(bytes[1]) << 8
      let header = DataHeader(role: .initiator, number: low, numberLength: 2)
      #expect(header.expanded(after: largest) == number)
    }
  }

  @Test func `acknowledgement delays decode as in the table of the WireFormat page`() {
    for (byte, units) in [(0, 0), (31, 31), (32, 32), (33, 34), (168, 1_248), (255, 8_032)]
      as [(UInt8, Int64)]
    {
      #expect(AckDelay(byte: byte).nanoseconds == units * 16_000)
    }
  }
}
