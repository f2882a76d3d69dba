/// A 64-bit fingerprint of a state made of integers: equal states have equal hashes on every
/// machine, so that peers can compare a number instead of a state. It is no defence against
/// forgery.
///
/// It begins at 0xCBF29CE484222325. Each 64-bit word w makes h = (h xor w) * 0x9FB21C651E98DF25
/// modulo 2^64, then h = h xor (h >> 32). The order of the words is part of a state's definition.
public struct StateHash: Hashable, Sendable {
  /// The hash of the words so far.
  public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  /// The hash of no words.
  @inlinable public init() {}

  /// Adds a word.
  public mutating func combine(_ word: UInt64) {
    value = (value ^ word) &* 0x9FB2_1C65_1E98_DF25
    value ^= value >> 32
  }

  /// Adds a signed integer as its two's complement.
  public mutating func combine(_ word: Int64) { combine(UInt64(bitPattern: word)) }
}
