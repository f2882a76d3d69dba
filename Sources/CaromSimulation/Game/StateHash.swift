/// A 64-bit hash of a state that consists of integers. Equal states have equal hashes on every
/// machine, so peers can compare hashes instead of states. The hash offers no protection against
/// forgery.
///
/// The hash h starts at 0xCBF29CE484222325. Each 64-bit word w sets h = (h xor w) *
/// 0x9FB21C651E98DF25 modulo 2^64 and then h = h xor (h >> 32). The order of the words is part of
/// the definition of a state's hash.
public struct StateHash: Hashable, Sendable {
  /// The hash of the words added so far.
  public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  /// Creates the hash of an empty sequence of words.
  @inlinable public init() {}

  /// Adds a 64-bit word to the hash.
  public mutating func combine(_ word: UInt64) {
    value = (value ^ word) &* 0x9FB2_1C65_1E98_DF25
    value ^= value >> 32
  }

  /// Adds the two's complement bits of a signed integer to the hash.
  public mutating func combine(_ word: Int64) { combine(UInt64(bitPattern: word)) }
}
