import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct FrameReaderTests {
  /// Frames and their bytes.
  private static let vectors: [([FrameValue], [UInt8])] = [
    ([.message(.unreliable, 3, 0, [7, 8])], [0x83, 2, 7, 8]),
    ([.message(.unreliable, 14, 0, [])], [0x8E, 0]),
    ([.message(.unreliableSequenced, 0, 0x102, [9])], [0x90, 0x02, 0x01, 1, 9]),
    ([.message(.reliableOrdered, 15, 7, [1])], [0xAF, 15, 7, 0, 1, 1]),
    ([.message(.reliableUnordered, 64, 7, [1])], [0xBF, 64, 7, 0, 1, 1]),
    ([.message(.reliableSequenced, 1, 0xFFFF, [1])], [0xC1, 0xFF, 0xFF, 1, 1]),
    (
      [
        .message(.reliableOrdered, 1, 0xFFFF, [5]), .ping, .message(.reliableOrdered, 1, 0, [6]),
        .message(.reliableOrdered, 1, 1, []),
      ],
      [0xA1, 0xFF, 0xFF, 1, 5, 0x01, 0xE1, 1, 6, 0xE1, 0]
    ),
    (
      [.message(.reliableOrdered, 20, 1, [5]), .message(.reliableOrdered, 20, 2, [6])],
      [0xAF, 20, 1, 0, 1, 5, 0xEF, 1, 6]
    ),
    (
      [.message(.reliableOrdered, 1, 1, [5]), .message(.reliableUnordered, 1, 2, [6])],
      [0xA1, 1, 0, 1, 5, 0xB1, 2, 0, 1, 6]
    ),
    (
      [.fragment(.reliableOrdered, 2, 3, of: 300, at: 200, [1, 2])],
      [0xD2, 2, 3, 0, 0xAC, 2, 0xC8, 1, 2, 1, 2]
    ),
    ([.fragment(.unreliable, 30, 3, of: 1, at: 0, [1])], [0xDF, 30, 0, 3, 0, 1, 0, 1, 1]),
    ([.ping], [1]),
    ([.padding(3)], [0, 0, 0]),
    ([.credit(64, 300)], [3, 64, 0xAC, 2]),
    ([.credit(0, .max)], [3, 0] + [UInt8](repeating: 0xFF, count: 9) + [1]),
    ([.acknowledgement([5...9], AckDelay(byte: 1))], [2, 9, 1, 0, 4]),
    (
      [.acknowledgement([300...300, 2...298, 0...0], AckDelay(byte: 255))],
      [2, 0xAC, 2, 255, 2, 0, 0, 0xA8, 2, 0, 0]
    ),
  ]

  @Test(arguments: vectors) func `each frame is encoded as specified`(
    frames: [FrameValue], bytes: [UInt8]
  ) throws {
    #expect(encodeFrames(frames) == bytes)
    #expect(try decodeFrames(bytes) == frames)
  }

  /// Bytes that `FrameWriter` never writes, and the resulting errors.
  private static let refused: [([UInt8], DecodeError)] = [
    ([0xA1, 0, 0, 1, 5, 0xA1, 1, 0, 1, 6], .invalid(what: "message: not the shortest form")),
    ([0xE1, 1, 6], .invalid(what: "next message: none before it on the channel")),
    ([0xA1, 0, 0, 0, 0xE2, 0], .invalid(what: "next message: none before it on the channel")),
    (
      [0xA1, 0, 0, 0, 0xD1, 2, 9, 0, 10, 0, 1, 7, 0xE1, 0],
      .invalid(what: "next message: none before it on the channel")
    ),
    (
      [0xA1, 0, 0, 0, 0x81, 0, 0xE1, 0],
      .invalid(what: "next message: none before it on the channel")
    ),
    ([0xEF, 20, 1, 6], .invalid(what: "next message: none before it on the channel")),
    ([0xF0, 0], .invalid(what: "message mode")),
    ([0xD0, 5, 0, 0, 1, 0, 1, 1], .invalid(what: "message mode")),
    ([0x8F, 14, 0], .invalid(what: "channel")),
    ([0x8F, 65, 0], .invalid(what: "channel")),
    ([0x80, 0x81, 0x00, 1], .invalid(what: "VarInt: not the shortest form")),
    ([0x80, 2, 1], .truncated(wanted: 2, remaining: 1)),
    (
      [0x80] + [UInt8](repeating: 0xFF, count: 9) + [1],
      .truncated(wanted: .max, remaining: 0)
    ),
    ([0xD0, 2, 0, 0, 2, 0, 0], .invalid(what: "fragment: no bytes")),
    ([0xD0, 2, 0, 0, 2, 1, 2, 1, 1], .invalid(what: "fragment: past the end")),
    ([0xD0, 2, 0, 0, 2, 3, 1, 1], .tooLarge(length: 3, limit: 2)),
    ([0xD0, 2, 0, 0, 0x81, 0x80, 0x40, 0, 1, 1], .tooLarge(length: 0x10_0001, limit: 1 << 20)),
    ([0, 0, 1], .invalid(what: "padding")),
    ([4], .invalid(what: "frame")),
    ([0x7F], .invalid(what: "frame")),
    ([3, 65, 0], .invalid(what: "channel")),
    ([0xDF, 65, 2, 0, 0, 1, 0, 1, 1], .invalid(what: "channel")),
    (
      [3, 0] + [UInt8](repeating: 0xFF, count: 9) + [2], .invalid(what: "VarInt: over 64 bits")
    ),
    (
      [3, 0] + [UInt8](repeating: 0x80, count: 10) + [1], .invalid(what: "VarInt: over 64 bits")
    ),
    ([2, 5, 0, 64], .tooLarge(length: 64, limit: 63)),
    ([2, 5, 0, 0, 6], .invalid(what: "acknowledgement: below 0")),
    ([2, 5, 0, 1, 4, 0, 0], .invalid(what: "acknowledgement: below 0")),
    ([2, 5, 0, 1, 0, 0, 4], .invalid(what: "acknowledgement: below 0")),
    (
      [2, 5, 0, 1, 0] + [UInt8](repeating: 0xFF, count: 9) + [1, 0],
      .invalid(what: "acknowledgement: below 0")
    ),
  ]

  @Test(arguments: refused) func `bytes that no writer produces are refused`(
    bytes: [UInt8], error: DecodeError
  ) {
    #expect(frameError(bytes) == error)
  }

  @Test(arguments: vectors) func `a truncated packet has fewer frames or is refused`(
    frames: [FrameValue], bytes: [UInt8]
  ) {
    for count in bytes.indices {
      guard let decoded = try? decodeFrames(Array(bytes[..<count])) else { continue }
      #expect(decoded.count < frames.count || decoded != frames)
    }
  }

  @Test func `no frame begins with a byte from 4 to 127, and no message has mode 7`() {
    let zeros = [UInt8](repeating: 0, count: 12)
    for first in 4...0x7F as ClosedRange<UInt8> {
      #expect(frameError([first] + zeros) == .invalid(what: "frame"))
    }
    for first in 0xF0...0xFF as ClosedRange<UInt8> {
      let channel: [UInt8] = first == 0xFF ? [15] : []
      #expect(frameError([first] + channel + zeros) == .invalid(what: "message mode"))
    }
  }

  @Test func `a fragment's message has a mode from 0 to 4, and at most 1 MiB`() throws {
    for mode in 0...4 as ClosedRange<UInt8> {
      let bytes: [UInt8] = [0xD0, mode, 0, 0, 0x80, 0x80, 0x40, 0xFF, 0xFF, 0x3F, 1, 7]
      let delivery = try #require(Delivery(rawValue: mode))
      let frames = [FrameValue.fragment(delivery, 0, 0, of: 1 << 20, at: 1 << 20 - 1, [7])]
      #expect(try decodeFrames(bytes) == frames)
      #expect(encodeFrames(frames) == bytes)
    }
  }

  @Test func `an acknowledgement has at most 64 ranges`() throws {
    var ranges: [ClosedRange<UInt64>] = []
    for number: UInt64 in stride(from: 126, through: 0, by: -2) { ranges.append(number...number) }
    let frames = [FrameValue.acknowledgement(ranges, AckDelay(byte: 0))]
    let bytes = try #require(encodeFrames(frames))
    #expect(bytes.count == 5 + 2 * 63)
    #expect(try decodeFrames(bytes) == frames)
  }

  @Test func `acknowledgements and padding are not ack-eliciting`() throws {
    var isAckEliciting: [Bool] = []
    var ranges = AcknowledgedRanges()
    let bytes: [UInt8] = [0x80, 0, 1, 3, 0, 0, 2, 0, 0, 0, 0, 0, 0]
    var reader = FrameReader(bytes.span)
    while let frame = try reader.next(ranges: &ranges) {
      isAckEliciting.append(frame.isAckEliciting)
    }
    #expect(isAckEliciting == [true, true, true, false, false])
  }

  /// Whether a data packet with one frame is ack-eliciting.
  private func elicitsAck(_ value: FrameValue) throws -> Bool? {
    let bytes = try #require(encodeFrames([value]))
    var ranges = AcknowledgedRanges()
    var reader = FrameReader(bytes.span)
    return try reader.next(ranges: &ranges)?.elicitsAckOfPacket
  }

  @Test func `of all messages, only a whole pong does not make a data packet ack-eliciting`() throws
  {
    let pong = ControlPacket.pong(sent: 7, clock: 8).packet.encoded
    #expect(
      encodeFrames([.message(.unreliable, 64, 0, pong)])?.count == FrameWriter.pongFrameLength)
    #expect(try elicitsAck(.message(.unreliable, 64, 0, pong)) == false)
    #expect(try elicitsAck(.message(.unreliable, 63, 0, pong)) == true)
    #expect(try elicitsAck(.message(.reliableOrdered, 64, 0, pong)) == true)
    #expect(try elicitsAck(.message(.unreliable, 64, 0, [1, 0, 5])) == true)
    let ping = ControlPacket.ping(sent: 7).packet.encoded
    #expect(try elicitsAck(.message(.unreliable, 64, 0, ping)) == true)
  }
}
