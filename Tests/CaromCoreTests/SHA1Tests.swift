import CaromCore
import Testing

@Suite struct SHA1Tests {
  private static func hash(_ message: [UInt8]) -> [UInt8] {
    var hash = SHA1()
    hash.absorb(message.span)
    let result = hash.finish()
    return result.indices.map { result[$0] }
  }

  /// RFC 3174 §7.3
  @Test func `the messages of the RFC have its hashes`() {
    #expect(
      Self.hash(Array("abc".utf8)) == [
        0xA9, 0x99, 0x3E, 0x36, 0x47, 0x06, 0x81, 0x6A, 0xBA, 0x3E, 0x25, 0x71, 0x78, 0x50, 0xC2,
        0x6C, 0x9C, 0xD0, 0xD8, 0x9D,
      ])
    let long = Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8)
    #expect(Self.hash(long).prefix(4) == [0x84, 0x98, 0x3E, 0x44])
    let eighty = Array(String(repeating: "01234567", count: 80).utf8)
    #expect(Self.hash(eighty).prefix(4) == [0xDE, 0xA3, 0x56, 0xA2])
  }

  @Test(arguments: [(0, 0xDA39_A3EE), (55, 0xC1C8_BBDC), (63, 0x03F0_9F5B), (64, 0x0098_BA82)])
  func `messages that fill a block with or without their padding are hashed`(
    length: Int, first: UInt32
  ) {
    let hash = Self.hash(Array(repeating: UInt8(ascii: "a"), count: length))
    #expect(hash.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } == first)
  }
}
