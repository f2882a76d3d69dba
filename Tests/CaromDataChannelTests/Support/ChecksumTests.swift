import CaromCore
import Testing

@testable import CaromDataChannel

@Suite struct ChecksumTests {
  private static let digits = Array("123456789".utf8)

  @Test func `the checks of nine digits are the known ones`() {
    #expect(CRC32.ethernet.checksum(of: Self.digits.span) == 0xCBF4_3926)
    #expect(CRC32.castagnoli.checksum(of: Self.digits.span) == 0xE306_9283)
  }

  @Test func `a check is the same in one part or in two, at every length`() {
    var generator = SeededGenerator(seed: 1)
    let bytes = (0..<64).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    for cut in bytes.indices {
      let crc = CRC32.castagnoli
      let first = crc.update(CRC32.start, with: bytes.span.extracting(0..<cut))
      let both = crc.update(first, with: bytes.span.extracting(cut..<64))
      #expect(CRC32.finish(both) == crc.checksum(of: bytes.span))
    }
  }

  /// RFC 2202 §3, test cases 1, 2 and 6.
  @Test(arguments: [
    ([UInt8](repeating: 0x0B, count: 20), "Hi There", 0xB617_3186),
    (Array("Jefe".utf8), "what do ya want for nothing?", 0xEFFC_DF6A),
    (
      [UInt8](repeating: 0xAA, count: 80), "Test Using Larger Than Block-Size Key - Hash Key First",
      0xAA4A_E5E1
    ),
  ])
  func `codes are those of the RFC`(key: [UInt8], message: String, first: UInt32) {
    var code = HMACSHA1(key: key.span)
    code.absorb(Array(message.utf8).span)
    let hash = code.finish()
    #expect((0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(hash[$1]) } == first)
  }
}
