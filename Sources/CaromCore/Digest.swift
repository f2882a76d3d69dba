/// A 64-bit FNV-1a hash, which gives the same result on every platform. It tells inputs apart, but
/// proves nothing: it is easy to find two inputs with the same hash.
package struct Digest: Hashable, Sendable {
  package var value: UInt64 = 0xCBF2_9CE4_8422_2325

  package init() {}

  /// Creates the hash with this value.
  package init(value: UInt64) { self.value = value }

  package mutating func absorb(_ byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
  }

  package mutating func absorb(_ bytes: some Sequence<UInt8>) { for byte in bytes { absorb(byte) } }

  /// The hash as 16 hexadecimal digits.
  package var text: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
