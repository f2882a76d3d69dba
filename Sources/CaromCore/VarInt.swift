/// Variable-length unsigned integers of one to ten bytes (LEB128, DWARF 5 §7.6).
///
/// Each byte carries seven bits, least significant first; its top bit is set if another byte
/// follows. Readers accept the shortest form only, so every value has exactly one encoding.
public enum VarInt {
  /// The maximum length of an encoding, in bytes.
  public static let maximumLength = 10

  /// Returns the length of the encoding of `value`, in bytes.
  @inlinable public static func length(of value: UInt64) -> Int {
    value < 0x80 ? 1 : (64 - value.leadingZeroBitCount + 6) / 7
  }

  /// Maps a signed integer to an unsigned one, so that small magnitudes of either sign stay small:
  /// 0, -1, 1, -2 … become 0, 1, 2, 3 …
  public static func zigZag(_ value: Int64) -> UInt64 {
    UInt64(bitPattern: (value << 1) ^ (value >> 63))
  }

  /// Returns the signed integer that `zigZag(_:)` maps to `value`.
  public static func unZigZag(_ value: UInt64) -> Int64 {
    Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }
}

extension PacketReader {
  /// Reads a variable-length integer (see `VarInt`). Throws `invalid` unless it has its shortest
  /// form.
  @inlinable @inline(__always)
  public mutating func readVarInt() throws(DecodeError) -> UInt64 {
    let first = try read(UInt8.self)
    return first < 0x80 ? UInt64(first) : try readVarInt(after: first)
  }

  @usableFromInline mutating func readVarInt(after first: UInt8) throws(DecodeError) -> UInt64 {
    var value = UInt64(first & 0x7F)
    for index in 1..<VarInt.maximumLength {
      let byte = try read(UInt8.self)
      if index == 9, byte > 1 { throw .invalid(what: "VarInt: over 64 bits") }
      value |= UInt64(byte & 0x7F) << UInt64(7 * index)
      guard byte & 0x80 == 0 else { continue }
      if byte == 0 { throw .invalid(what: "VarInt: not the shortest form") }
      return value
    }
    throw .invalid(what: "VarInt: no last byte")
  }
}

extension PacketWriter {
  /// Appends a variable-length integer (see `VarInt`).
  public mutating func writeVarInt(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }
}
