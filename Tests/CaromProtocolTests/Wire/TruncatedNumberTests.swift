import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct TruncatedNumberTests {
  @Test func `the example of RFC 9000, appendix A 3, is reproduced`() {
    #expect(UInt64(expanding: 0x9b32, bits: 16, near: 0xa82f_30eb) == 0xa82f_9b32)
  }

  @Test func `numbers within half a window ahead and behind are recovered`() {
    var generator = SeededGenerator(seed: 4)
    var wrong = 0
    for bits in [16, 24, 32] as [UInt64] {
      let half = Int64(1) << Int64(bits - 1)
      for _ in 0..<2_000 {
        let expected = generator.next() >> (2 + generator.next() % 50) + UInt64(half)
        let offset = Int64.random(in: -half + 1...half, using: &generator)
        let number = UInt64(Int64(expected) + offset)
        let low = number & (1 << bits - 1)
        if UInt64(expanding: low, bits: bits, near: expected) != number { wrong += 1 }
      }
    }
    #expect(wrong == 0)
  }

  /// WireFormat, "Data packets".
  @Test func `of two numbers that are equally near the greater is meant`() {
    for bits in [16, 24, 32] as [UInt64] {
      let half: UInt64 = 1 << (bits - 1)
      // Half a window ahead is above or below the next multiple of the window.
      for expected in [3 * half - 7, 4 * half - 7, 4 * half, 5 * half + 7] {
        for number in [expected + half, expected + half - 1, expected - half + 1] {
          let low = number & (1 << bits - 1)
          #expect(UInt64(expanding: low, bits: bits, near: expected) == number)
        }
      }
    }
  }

  @Test func `no number is below 0 or above the largest`() {
    #expect(UInt64(expanding: 0xFFFF, bits: 16, near: 0) == 0xFFFF)
    #expect(UInt64(expanding: 0, bits: 16, near: .max) == UInt64.max - 0xFFFF)
  }
}
