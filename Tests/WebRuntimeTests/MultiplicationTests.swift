import CWebRuntime
import CaromCore
import Testing

struct MultiplicationTests {
  @Test func `products of 128-bit integers are those of the processor`() {
    var generator = SeededGenerator(seed: 11)
    var values: [UInt128] = [0, 1, .max, 1 << 63, 1 << 64, 1 << 127, 0xFFFF_FFFF]
    // Operands of every length.
    for shift in 0..<128 { values.append(.random(in: 0 ... .max, using: &generator) >> shift) }
    for a in values {
      for b in values where product(of: a, b) != a &* b { Issue.record("\(a) times \(b)") }
    }
  }

  private func product(of a: UInt128, _ b: UInt128) -> UInt128 {
    let product = cweb_multiply(halves(of: a), halves(of: b))
    return UInt128(product.high) << 64 | UInt128(product.low)
  }

  private func halves(of value: UInt128) -> cweb_int128 {
    cweb_int128(
      low: UInt64(truncatingIfNeeded: value), high: UInt64(truncatingIfNeeded: value >> 64))
  }
}
