import CaromCodec
import CaromCore
import Testing

/// Frames as they stand on the wire, byte by byte.
@Suite struct FrameVectorTests {
  static let vectors: [(length: Int, header: [UInt8])] = [
    (0, [0x00, 0, 0, 0, 0, 0, 0, 0]),
    (1, [0x01, 0, 0, 0, 0, 0, 0, 0]),
    (255, [0xFF, 0, 0, 0, 0, 0, 0, 0]),
    (256, [0x00, 0x01, 0, 0, 0, 0, 0, 0]),
    (65_536, [0x00, 0x00, 0x01, 0, 0, 0, 0, 0]),
  ]

  @Test(arguments: vectors)
  func `a frame is eight bytes of length, least significant first, and the body`(
    length: Int, header: [UInt8]
  ) throws {
    let body = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
    #expect(try FrameEncoder().encode(body) == header + body)
    #expect(try FrameEncoder(byteOrder: .big).encode(body) == header.reversed() + body)
  }

  @Test(arguments: vectors)
  func `a frame is read back`(length: Int, header: [UInt8]) throws {
    let body = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
    for (order, head) in [(ByteOrder.little, header), (.big, header.reversed())] {
      var decoder = FrameDecoder(byteOrder: order)
      decoder.receive((head + body).span, at: .zero)
      #expect(try decoder.next() == body)
      #expect(try decoder.next() == nil)
    }
  }

  @Test func `a packet is type and action, two bytes each, and the payload`() {
    let packet = Packet(type: 0x1234, action: 0xABCD, payload: [0xEE])
    #expect(packet.framed() == [5, 0, 0, 0, 0, 0, 0, 0, 0x34, 0x12, 0xCD, 0xAB, 0xEE])
  }
}
