/// A cursor that reads fields from untrusted bytes. Every read is bounds-checked and throws instead
/// of trapping.
///
/// Fixed-width integers are little-endian unless the method's name says otherwise.
public struct PacketReader: ~Escapable {
  @usableFromInline let bytes: Span<UInt8>

  /// The number of bytes read so far.
  @inlinable public var offset: Int { position }
  @usableFromInline var position = 0

  /// Creates a reader at the start of `bytes`.
  @_lifetime(copy bytes)
  @inlinable public init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  /// The number of bytes not yet read.
  @inlinable public var remaining: Int { bytes.count - position }

  /// Advances by `count` bytes, and returns the offset of the first byte skipped.
  @inlinable @inline(__always)
  mutating func advance(by count: Int) throws(DecodeError) -> Int {
    guard count >= 0, count <= bytes.count - position else {
      throw .truncated(wanted: count, remaining: bytes.count - position)
    }
    defer { position &+= count }
    return position
  }

  /// Returns the next byte without reading it, or nil at the end.
  @inlinable public func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Reads one byte. This overload avoids the loop of the generic method.
  @inlinable @inline(__always)
  public mutating func read(_ type: UInt8.Type = UInt8.self) throws(DecodeError) -> UInt8 {
    guard position < bytes.count else { throw .truncated(wanted: 1, remaining: 0) }
    defer { position &+= 1 }
    return bytes[position]
  }

  /// Reads a little-endian integer.
  @inlinable @inline(__always)
  public mutating func read<Value: FixedWidthInteger & UnsignedInteger>(
    _ type: Value.Type = Value.self
  ) throws(DecodeError) -> Value {
    let start = try advance(by: Value.bitWidth / 8)
    var value: Value = 0
    for index in stride(from: Value.bitWidth / 8 - 1, through: 0, by: -1) {
      value = value << 8 | Value(truncatingIfNeeded: bytes[start + index])
    }
    return value
  }

  /// Reads a big-endian integer.
  @inlinable public mutating func readBigEndian<Value: FixedWidthInteger & UnsignedInteger>(
    _ type: Value.Type = Value.self
  ) throws(DecodeError) -> Value {
    let start = try advance(by: Value.bitWidth / 8)
    var value: Value = 0
    for index in 0..<(Value.bitWidth / 8) {
      value = value << 8 | Value(truncatingIfNeeded: bytes[start + index])
    }
    return value
  }

  /// Reads `count` bytes, and returns them as a span of the input without copying.
  @_lifetime(copy self)
  @inlinable @inline(__always)
  public mutating func readSpan(_ count: Int) throws(DecodeError) -> Span<UInt8> {
    let start = try advance(by: count)
    return bytes.extracting(start..<start + count)
  }

  /// Reads `count` bytes and returns a copy of them.
  public mutating func readBytes(_ count: Int) throws(DecodeError) -> [UInt8] {
    Array(copying: try readSpan(count))
  }

  /// Reads all remaining bytes and returns a copy of them.
  public mutating func readRest() -> [UInt8] {
    defer { position = bytes.count }
    return Array(copying: bytes.extracting(offset..<bytes.count))
  }

  /// Reads a string: its length in UTF-8 bytes (`VarInt`), then those bytes. Throws `tooLarge` if
  /// the length exceeds `limit`.
  public mutating func readText(limit: Int) throws(DecodeError) -> String {
    let length = try readVarInt()
    guard length <= UInt64(limit) else { throw .tooLarge(length: length, limit: UInt64(limit)) }
    let text = try readBytes(Int(length))
    guard let valid = String(utf8Bytes: text) else { throw .invalid(what: "UTF-8") }
    return valid
  }

  /// Checks that all bytes have been read. Throws `trailingBytes` otherwise.
  public func finish() throws(DecodeError) {
    guard remaining == 0 else { throw .trailingBytes(remaining) }
  }
}

extension Array where Element == UInt8 {
  /// Creates an array with a copy of the span's bytes.
  @inlinable public init(copying span: Span<UInt8>) {
    self.init(capacity: span.count) { output in
      for index in span.indices { output.append(span[index]) }
    }
  }

  /// Appends a copy of the span's bytes.
  @inlinable public mutating func append(copying span: Span<UInt8>) {
    guard !span.isEmpty else { return }  // an empty array's storage is shared and must not change
    append(addingCapacity: span.count) { output in
      for index in span.indices { output.append(span[index]) }
    }
  }

  /// Reserves capacity for `additional` more bytes. If the array must grow, its capacity at least
  /// doubles, so that repeated small appends take amortized constant time.
  @inlinable public mutating func makeRoom(for additional: Int) {
    guard capacity - count < additional else { return }
    reserveCapacity(count == 0 ? additional : Swift.max(count + additional, 2 * count))
  }
}
