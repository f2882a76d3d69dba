import CaromCore

/// Reads the bits that `BitWriter` wrote. Reading past the last byte throws.
struct BitReader: Sendable {
  /// The maximum of n + k in an exponential Golomb code of a value, where k is the code's order and
  /// n is the bit length of (value >> k) + 1 (see `BitWriter.writeGolomb`). Longer codes are
  /// invalid, because an input value differs from its prediction by at most 2^33.
  static let longestDifference = 36

  /// The byte that is being read.
  private var current: UInt8 = 0
  /// The number of low bits of `current` that have not been read.
  private var left = 0

  /// Reads one bit.
  mutating func bit(_ reader: inout PacketReader) throws(DecodeError) -> Bool {
    if left == 0 {
      current = try reader.read()
      left = 8
    }
    left -= 1
    return current >> UInt8(left) & 1 == 1
  }

  /// Reads `count` bits, at most 64.
  mutating func read(_ count: Int, _ reader: inout PacketReader) throws(DecodeError) -> UInt64 {
    var value: UInt64 = 0
    var wanted = count
    while wanted > 0 {
      if left == 0 {
        current = try reader.read()
        left = 8
      }
      let part = min(wanted, left)
      left -= part
      value = value << UInt64(part) | UInt64(current >> UInt8(left)) & ((1 << UInt64(part)) - 1)
      wanted -= part
    }
    return value
  }

  /// Reads a code that `BitWriter.writeGolomb` wrote. Throws `DecodeError.invalid` for a code that
  /// is longer than any difference between an input value and its prediction requires.
  mutating func readGolomb(_ k: Int, _ reader: inout PacketReader) throws(DecodeError) -> UInt64 {
    var length = 1
    while !(try bit(&reader)) {
      length += 1
      guard length + k <= Self.longestDifference else { throw .invalid(what: "input difference") }
    }
    let high = 1 << UInt64(length - 1) | (try read(length - 1, &reader))
    return (high - 1) << UInt64(k) | (try read(k, &reader))
  }

  /// Whether the unread bits of the last byte are zeros.
  var isPaddingZero: Bool { left == 0 || current & ((1 << UInt8(left)) - 1) == 0 }

  /// Checks that the unread bits of the last byte are zeros. Throws `DecodeError.invalid`
  /// otherwise.
  func finish() throws(DecodeError) {
    guard isPaddingZero else { throw .invalid(what: "padding") }
  }
}
