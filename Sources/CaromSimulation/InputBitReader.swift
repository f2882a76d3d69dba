import CaromCore

/// Reads what `InputBitWriter` wrote: every bit is checked to be there.
struct InputBitReader {
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

  /// The next residual; one that a shorter code has is `invalid`.
  mutating func readRice(_ k: Int, _ reader: inout PacketReader) throws(DecodeError) -> UInt64 {
    var quotient = 0
    while quotient < InputRice.escape, try bit(&reader) { quotient += 1 }
    guard quotient == InputRice.escape else {
      return UInt64(quotient) << UInt64(k) | (try read(k, &reader))
    }
    let value = try read(InputRice.rawBits, &reader)
    guard value >> UInt64(k) >= UInt64(InputRice.escape) else { throw .invalid(what: "escape") }
    return value
  }

  /// The rest of the last byte has to be zeros.
  func finish() throws(DecodeError) {
    guard left == 0 || current & ((1 << UInt8(left)) - 1) == 0 else {
      throw .invalid(what: "padding")
    }
  }
}
