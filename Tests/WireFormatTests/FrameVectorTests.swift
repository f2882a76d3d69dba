import CaromCodec
import CaromCore
import Testing

/// Compares stream frames with the vectors in `frames.txt`.
@Suite struct FrameVectorTests {
  let headers: [Int: [UInt8]]

  init() throws {
    let vectors = try WireVectors.load("frames.txt").map { (Int($0) ?? -1, $1) }
    headers = Dictionary(uniqueKeysWithValues: vectors)
  }

  static func makeBody(_ length: Int) -> [UInt8] {
    (0..<length).map { UInt8(truncatingIfNeeded: $0) }
  }

  @Test func `there are vectors for lengths at the byte boundaries`() {
    #expect(headers.keys.sorted() == [0, 1, 255, 256, 65_536])
  }

  @Test func `a frame is an 8-byte length, least significant byte first, and the body`() throws {
    for (length, header) in headers {
      let body = Self.makeBody(length)
      #expect(try FrameEncoder().encode(body) == header + body)
      #expect(try FrameEncoder(byteOrder: .big).encode(body) == header.reversed() + body)
    }
  }

  @Test func `a decoder returns the body of a frame`() throws {
    for (length, header) in headers {
      let body = Self.makeBody(length)
      for (order, head) in [(ByteOrder.little, header), (.big, header.reversed())] {
        var decoder = FrameDecoder(byteOrder: order)
        decoder.receive((head + body).span, at: .zero)
        #expect(try decoder.next() == body)
        #expect(try decoder.next() == nil)
      }
    }
  }

  @Test func `a packet is a 2-byte type, a 2-byte action and the payload`() {
    let packet = Packet(type: 0x1234, action: 0xABCD, payload: [0xEE])
    #expect(packet.framed() == [5, 0, 0, 0, 0, 0, 0, 0, 0x34, 0x12, 0xCD, 0xAB, 0xEE])
  }
}
