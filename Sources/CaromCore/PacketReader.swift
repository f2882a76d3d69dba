/// Reads fields from bytes that somebody else wrote: every read is checked, none traps.
///
/// Fixed-width integers are little-endian unless the name says otherwise.
public struct PacketReader: ~Escapable {
  @usableFromInline let bytes: Span<UInt8>

  /// How many bytes were read so far.
  @inlinable public var offset: Int { position }
  @usableFromInline var position = 0

  /// Begins at the first of `bytes`.
  @_lifetime(copy bytes)
  @inlinable public init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  /// How many bytes are left.
  @inlinable public var remaining: Int { bytes.count - position }

  /// Counts `count` bytes as read and says where they begin.
  @inlinable @inline(__always)
  mutating func take(_ count: Int) throws(DecodeError) -> Int {
    guard count >= 0, count <= bytes.count - position else {
      throw .truncated(wanted: count, remaining: bytes.count - position)
    }
    defer { position &+= count }
    return position
  }

  /// The next byte, which stays unread; `nil` at the end.
  @inlinable public func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

  /// The next byte: what the general form does, without its loop.
  @inlinable @inline(__always)
  public mutating func read(_ type: UInt8.Type = UInt8.self) throws(DecodeError) -> UInt8 {
    guard position < bytes.count else { throw .truncated(wanted: 1, remaining: 0) }
    defer { position &+= 1 }
    return bytes[position]
  }

  /// The next integer, least significant byte first.
  @inlinable public mutating func read<Value: FixedWidthInteger & UnsignedInteger>(
    _ type: Value.Type = Value.self
  ) throws(DecodeError) -> Value {
    let start = try take(Value.bitWidth / 8)
    var value: Value = 0
    for index in stride(from: Value.bitWidth / 8 - 1, through: 0, by: -1) {
      value = value << 8 | Value(truncatingIfNeeded: bytes[start + index])
    }
    return value
  }

  /// The next integer, most significant byte first, as the DNS has it.
  @inlinable public mutating func readBigEndian<Value: FixedWidthInteger & UnsignedInteger>(
    _ type: Value.Type = Value.self
  ) throws(DecodeError) -> Value {
    let start = try take(Value.bitWidth / 8)
    var value: Value = 0
    for index in 0..<(Value.bitWidth / 8) {
      value = value << 8 | Value(truncatingIfNeeded: bytes[start + index])
    }
    return value
  }

  /// The next `count` bytes, where they lie.
  @_lifetime(copy self)
  @inlinable @inline(__always)
  public mutating func readSpan(_ count: Int) throws(DecodeError) -> Span<UInt8> {
    let start = try take(count)
    return bytes.extracting(start..<start + count)
  }

  /// The next `count` bytes, copied.
  public mutating func readBytes(_ count: Int) throws(DecodeError) -> [UInt8] {
    Array(copying: try readSpan(count))
  }

  /// Everything that is left, copied.
  public mutating func readRest() -> [UInt8] {
    defer { position = bytes.count }
    return Array(copying: bytes.extracting(offset..<bytes.count))
  }

  /// A length (`VarInt`) and that many bytes of UTF-8; over `limit` bytes is `tooLarge`.
  public mutating func readText(limit: Int) throws(DecodeError) -> String {
    let length = try readVarInt()
    guard length <= UInt64(limit) else { throw .tooLarge(length: length, limit: UInt64(limit)) }
    let text = try readBytes(Int(length))
    guard let valid = String(validating: text, as: UTF8.self) else { throw .invalid(what: "UTF-8") }
    return valid
  }

  /// Throws `trailingBytes` unless everything was read.
  public func finish() throws(DecodeError) {
    guard remaining == 0 else { throw .trailingBytes(remaining) }
  }
}

extension Array where Element == UInt8 {
  /// The span's bytes as an array of its own.
  @inlinable public init(copying span: Span<UInt8>) {
    self.init(capacity: span.count) { output in
      for index in span.indices { output.append(span[index]) }
    }
  }

  /// Appends the span's bytes, each copied once.
  @inlinable public mutating func append(copying span: Span<UInt8>) {
    guard !span.isEmpty else { return }  // nothing is written to the shared empty storage
    append(addingCapacity: span.count) { output in
      for index in span.indices { output.append(span[index]) }
    }
  }

  /// Makes room for `count` more bytes; what grows does so by doubling, so that many small
  /// appends stay cheap.
  @inlinable public mutating func makeRoom(for additional: Int) {
    guard capacity - count < additional else { return }
    reserveCapacity(count == 0 ? additional : Swift.max(count + additional, 2 * count))
  }
}
