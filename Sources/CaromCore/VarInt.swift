/// Integers in one to ten bytes: seven bits a byte, least significant first, the top bit says
/// that another byte follows (LEB128, DWARF 5 §7.6). Only the shortest form is accepted, so that
/// decoding and encoding again gives the same bytes.
public enum VarInt {
  /// The most bytes that a value takes.
  public static let maximumLength = 10

  /// How many bytes `value` takes.
  @inlinable public static func length(of value: UInt64) -> Int {
    value < 0x80 ? 1 : (64 - value.leadingZeroBitCount + 6) / 7
  }

  /// Small for small magnitudes of either sign: 0, -1, 1, -2 … become 0, 1, 2, 3 …
  public static func zigZag(_ value: Int64) -> UInt64 {
    UInt64(bitPattern: (value << 1) ^ (value >> 63))
  }

  /// Undoes `zigZag(_:)`.
  public static func unZigZag(_ value: UInt64) -> Int64 {
    Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }
}

extension PacketReader {
  /// The next `VarInt`; a longer form than needed is `invalid`.
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
  /// Appends `value` in its shortest form.
  public mutating func writeVarInt(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }
}
