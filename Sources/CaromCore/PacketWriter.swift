/// A writer that appends fields to a growing byte array, for `PacketReader` to read.
public struct PacketWriter: Sendable {
  /// The bytes written so far.
  public var bytes: [UInt8] { storage }
  /// The bytes written so far, without a copy.
  package var span: Span<UInt8> {
    @_lifetime(borrow self) get { storage.span }
  }
  @usableFromInline var storage: [UInt8]

  /// Creates an empty writer with capacity for `capacity` bytes.
  public init(capacity: Int = 64) {
    storage = []
    storage.reserveCapacity(capacity)
  }

  /// The number of bytes written so far.
  public var count: Int { storage.count }

  /// Removes all bytes, but keeps the capacity.
  public mutating func removeAll() { storage.removeAll(keepingCapacity: true) }

  /// Appends a little-endian integer.
  @inlinable public mutating func write<Value: FixedWidthInteger & UnsignedInteger>(
    _ value: Value
  ) {
    let length = Value.bitWidth / 8
    storage.makeRoom(for: length)
    storage.append(addingCapacity: length) { output in
      var rest = value
      for _ in 0..<length {
        output.append(UInt8(truncatingIfNeeded: rest))
        rest = Value(truncatingIfNeeded: UInt64(truncatingIfNeeded: rest) >> 8)
      }
    }
  }

  /// Appends a big-endian integer.
  @inlinable public mutating func writeBigEndian<Value: FixedWidthInteger & UnsignedInteger>(
    _ value: Value
  ) {
    for shift in stride(from: Value.bitWidth - 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: value >> Value(shift)))
    }
  }

  /// Appends one byte.
  @inlinable public mutating func append(_ byte: UInt8) { storage.append(byte) }

  /// Appends bytes without their length.
  public mutating func write(_ more: some Sequence<UInt8>) { storage.append(contentsOf: more) }

  /// Appends a string: its length in UTF-8 bytes (`VarInt`), then its UTF-8.
  public mutating func writeText(_ text: String) {
    let utf8 = text.utf8Bytes
    writeVarInt(UInt64(utf8.count))
    write(utf8)
  }

  /// Overwrites the two bytes at `offset` with a big-endian integer, such as a length that was not
  /// known when the bytes were reserved.
  public mutating func overwriteBigEndian(_ value: UInt16, at offset: Int) {
    precondition(
      offset >= 0 && offset + 2 <= storage.count, "overwriteBigEndian needs two written bytes")
    storage[offset] = UInt8(value >> 8)
    storage[offset + 1] = UInt8(value & 0xFF)
  }
}
