import CaromCodec
import CaromCore
import Testing

@Suite struct PacketTests {
  @Test func `a framed packet is a length, a type, an action and a payload`() {
    let packet = Packet(type: 0x0102, action: 0x0304, payload: [9, 8])
    #expect(packet.encoded == [2, 1, 4, 3, 9, 8])
    #expect(packet.framed() == [6, 0, 0, 0, 0, 0, 0, 0, 2, 1, 4, 3, 9, 8])
  }

  @Test func `a packet is decoded from its frame`() throws {
    let packet = Packet(type: 7, action: 1, payload: Array(0..<200))
    var decoder = FrameDecoder()
    decoder.receive(packet.framed(), at: .zero)
    let body = try #require(try decoder.next())
    #expect(try Packet(decoding: body.span) == packet)
  }

  @Test func `a packet without a payload has four bytes`() throws {
    #expect(try Packet(decoding: [1, 0, 2, 0].span) == Packet(type: 1, action: 2))
  }

  @Test(arguments: 0..<4) func `a body too short for a packet is truncated`(count: Int) {
    let body = [UInt8](repeating: 1, count: count)
    #expect(throws: DecodeError.self) { try Packet(decoding: body.span) }
  }

  @Test func `a body over the limit is refused by the encoder`() throws {
    let encoder = FrameEncoder(limit: 4)
    #expect(throws: FrameError.frameTooLarge(length: 5, limit: 4)) {
      try encoder.encode([1, 2, 3, 4, 5])
    }
    #expect(throws: FrameError.frameTooLarge(length: 5, limit: 4)) {
      try encoder.encode(Packet(type: 1, payload: [1]))
    }
    #expect(try encoder.encode([1]) == [1, 0, 0, 0, 0, 0, 0, 0, 1])
    #expect(try FrameEncoder(byteOrder: .big).encode([1]) == [0, 0, 0, 0, 0, 0, 0, 1, 1])
  }
}
