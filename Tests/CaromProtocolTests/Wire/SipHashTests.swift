import Testing

@testable import CaromProtocol

@Suite struct SipHashTests {
  /// The key 00 01 … 0f, as in the paper's appendix A.
  private let low: UInt64 = 0x0706_0504_0302_0100
  private let high: UInt64 = 0x0f0e_0d0c_0b0a_0908

  @Test func `the reference vectors are reproduced`() {
    let vectors: [[UInt8]] = [
      [0x31, 0x0e, 0x0e, 0xdd, 0x47, 0xdb, 0x6f, 0x72],
      [0xfd, 0x67, 0xdc, 0x93, 0xc5, 0x39, 0xf8, 0x74],
      [0x5a, 0x4f, 0xa9, 0xd9, 0x09, 0x80, 0x6c, 0x0d],
      [0x2d, 0x7e, 0xfb, 0xd7, 0x96, 0x66, 0x67, 0x85],
      [0xb7, 0x87, 0x71, 0x27, 0xe0, 0x94, 0x27, 0xcf],
      [0x8d, 0xa6, 0x99, 0xcd, 0x64, 0x55, 0x76, 0x18],
      [0xce, 0xe3, 0xfe, 0x58, 0x6e, 0x46, 0xc9, 0xcb],
      [0x37, 0xd1, 0x01, 0x8b, 0xf5, 0x00, 0x02, 0xab],
    ]
    for (count, vector) in vectors.enumerated() {
      let message = (0..<count).map { UInt8($0) }
      let hash = SipHash.hash(message.span, key: low, high)
      #expect((0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * $0)) } == vector)
    }
  }

  @Test func `the paper's example of fifteen bytes is reproduced`() {
    let message = (0..<15).map { UInt8($0) }
    #expect(SipHash.hash(message.span, key: low, high) == 0xa129_ca61_49be_45e5)
  }

  @Test func `words hash like their bytes`() {
    var hash = SipHash(key: 5, 6)
    hash.absorb(0x0807_0605_0403_0201)
    let message: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    #expect(hash.finish() == SipHash.hash(message.span, key: 5, 6))
  }
}

extension SipHash {
  /// Returns the hash of `bytes` under the key whose halves are `low` and `high`.
  fileprivate static func hash(
    _ bytes: Span<UInt8>, key low: UInt64, _ high: UInt64
  ) -> UInt64 {
    var state = SipHash(key: low, high)
    var word: UInt64 = 0
    for index in bytes.indices {
      word |= UInt64(bytes[index]) &<< UInt64(8 * (index & 7))
      if index & 7 == 7 {
        state.absorb(word)
        word = 0
      }
    }
    return state.finish(tail: word, count: UInt64(bytes.count & 7))
  }
}
