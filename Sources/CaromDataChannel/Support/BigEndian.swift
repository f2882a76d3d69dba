extension Span where Element == UInt8 {
  /// Returns the big-endian integer of two bytes at `offset`, which must lie within the span.
  func bigEndian16(at offset: Int) -> UInt16 {
    UInt16(self[offset]) << 8 | UInt16(self[offset + 1])
  }

  /// Returns the big-endian integer of four bytes at `offset`, which must lie within the span.
  func bigEndian32(at offset: Int) -> UInt32 {
    UInt32(bigEndian16(at: offset)) << 16 | UInt32(bigEndian16(at: offset + 2))
  }

  /// Returns the big-endian integer of eight bytes at `offset`, which must lie within the span.
  func bigEndian64(at offset: Int) -> UInt64 {
    UInt64(bigEndian32(at: offset)) << 32 | UInt64(bigEndian32(at: offset + 4))
  }
}

extension OutputSpan where Element == UInt8 {
  /// Appends a big-endian integer. The span must have room for its bytes.
  @inline(__always)
  mutating func appendBigEndian<Value: FixedWidthInteger & UnsignedInteger>(_ value: Value) {
    let length = Value.bitWidth / 8
    for index in 1...length {
      append(UInt8(truncatingIfNeeded: value >> Value(8 * (length - index))))
    }
  }
}

extension [UInt8] {
  /// Appends a big-endian integer.
  @inline(__always)
  mutating func appendBigEndian<Value: FixedWidthInteger & UnsignedInteger>(_ value: Value) {
    let length = Value.bitWidth / 8
    makeRoom(for: length)
    append(addingCapacity: length) { $0.appendBigEndian(value) }
  }

  /// Overwrites two bytes at `offset` with a big-endian integer.
  mutating func overwriteBigEndian(_ value: UInt16, at offset: Int) {
    self[offset] = UInt8(truncatingIfNeeded: value >> 8)
    self[offset + 1] = UInt8(truncatingIfNeeded: value)
  }

  /// Appends zeros until `count - start` is a multiple of four. STUN attributes and SCTP chunks and
  /// parameters are padded so.
  mutating func pad(from start: Int) {
    while (count - start) & 3 != 0 { append(0) }
  }
}

/// Returns `length` rounded up to a multiple of four.
func padded(_ length: Int) -> Int { (length + 3) & ~3 }
