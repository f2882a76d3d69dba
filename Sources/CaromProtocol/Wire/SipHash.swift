/// SipHash-2-4 (Aumasson and Bernstein 2012): a keyed hash, which nobody can predict without the
/// key.
package struct SipHash: Sendable {
  private var v0: UInt64
  private var v1: UInt64
  private var v2: UInt64
  private var v3: UInt64
  private var length: UInt64 = 0

  /// Creates a hash with the two halves of the key, each little-endian.
  package init(key low: UInt64, _ high: UInt64) {
    v0 = low ^ 0x736f_6d65_7073_6575
    v1 = high ^ 0x646f_7261_6e64_6f6d
    v2 = low ^ 0x6c79_6765_6e65_7261
    v3 = high ^ 0x7465_6462_7974_6573
  }

  /// Adds the eight bytes of `word`, least significant first, to the hashed input.
  package mutating func absorb(_ word: UInt64) {
    compress(word)
    length &+= 8
  }

  /// Returns the hash of all absorbed words.
  package consuming func finish() -> UInt64 { finish(tail: 0, count: 0) }

  /// Returns the hash of all absorbed words followed by the `count` bytes in `tail`, at most 7.
  consuming func finish(tail: UInt64, count: UInt64) -> UInt64 {
    compress((length &+ count) &<< 56 | tail)
    v2 ^= 0xFF
    for _ in 0..<4 { round() }
    return v0 ^ v1 ^ v2 ^ v3
  }

  private mutating func compress(_ word: UInt64) {
    v3 ^= word
    round()
    round()
    v0 ^= word
  }

  @inline(__always)
  private mutating func round() {
    v0 &+= v1
    v2 &+= v3
    v1 = Self.rotate(v1, 13) ^ v0
    v3 = Self.rotate(v3, 16) ^ v2
    v0 = Self.rotate(v0, 32)
    v2 &+= v1
    v0 &+= v3
    v1 = Self.rotate(v1, 17) ^ v2
    v3 = Self.rotate(v3, 21) ^ v0
    v2 = Self.rotate(v2, 32)
  }

  @inline(__always)
  private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 {
    value &<< count | value &>> (64 - count)
  }
}
