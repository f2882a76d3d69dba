/// Writes the fields that `PacketReader` reads, into one growing array.
public struct PacketWriter: Sendable {
  /// What was written so far.
  public var bytes: [UInt8] { storage }
  @usableFromInline var storage: [UInt8]

  /// An empty writer with room for `capacity` bytes.
  public init(capacity: Int = 64) {
    storage = []
    storage.reserveCapacity(capacity)
  }

  /// How many bytes were written.
  public var count: Int { storage.count }

  /// Forgets what was written and keeps the room for what comes next.
  public mutating func removeAll() { storage.removeAll(keepingCapacity: true) }

  /// Appends an integer, least significant byte first.
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

  /// Appends an integer, most significant byte first.
  @inlinable public mutating func writeBigEndian<Value: FixedWidthInteger & UnsignedInteger>(
    _ value: Value
  ) {
    for shift in stride(from: Value.bitWidth - 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: value >> Value(shift)))
    }
  }

  /// Appends one byte.
  @inlinable public mutating func append(_ byte: UInt8) { storage.append(byte) }

  /// Appends bytes as they are.
  public mutating func write(_ more: some Sequence<UInt8>) { storage.append(contentsOf: more) }

  /// Appends a text's length (`VarInt`, in UTF-8 bytes) and its UTF-8.
  public mutating func writeText(_ text: String) {
    let utf8 = Array(text.utf8)
    writeVarInt(UInt64(utf8.count))
    write(utf8)
  }

  /// Writes over two bytes at `offset`, most significant first: for a length known later.
  public mutating func overwriteBigEndian(_ value: UInt16, at offset: Int) {
    precondition(
      offset >= 0 && offset + 2 <= storage.count, "the two bytes must be written already")
    storage[offset] = UInt8(value >> 8)
    storage[offset + 1] = UInt8(value & 0xFF)
  }
}
