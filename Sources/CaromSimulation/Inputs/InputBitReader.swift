import CaromCore

/// Reads what `InputBitWriter` wrote: every bit is checked to be there.
struct InputBitReader {
  /// The bits of the largest folded difference, and one: two inputs differ by 2^33 at most.
  static let longestDifference = 36

  private var current: UInt8 = 0
  private var left = 0

  /// The next bit.
  mutating func bit(_ reader: inout PacketReader) throws(DecodeError) -> Bool {
    if left == 0 {
      current = try reader.read()
      left = 8
    }
    left -= 1
    return current >> UInt8(left) & 1 == 1
  }

  /// The next `count` bits.
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

  /// The next folded difference, as `InputBitWriter.writeGolomb` wrote it; one that is longer than
  /// any difference of two inputs is `invalid`.
  mutating func readGolomb(_ k: Int, _ reader: inout PacketReader) throws(DecodeError) -> UInt64 {
    var length = 1
    while !(try bit(&reader)) {
      length += 1
      guard length + k <= Self.longestDifference else { throw .invalid(what: "input difference") }
    }
    let high = 1 << UInt64(length - 1) | (try read(length - 1, &reader))
    return (high - 1) << UInt64(k) | (try read(k, &reader))
  }

  /// The rest of the last byte has to be zeros.
  func finish() throws(DecodeError) {
    guard left == 0 || current & ((1 << UInt8(left)) - 1) == 0 else {
      throw .invalid(what: "padding")
    }
  }
}
