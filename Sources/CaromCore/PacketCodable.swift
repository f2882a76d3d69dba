/// A value with a fixed layout of its own on the wire.
public protocol PacketCodable: Sendable {
  /// Appends the value's bytes.
  func encode(into writer: inout PacketWriter)

  /// Reads a value that somebody else wrote; whatever does not fit is a `DecodeError`.
  init(decoding reader: inout PacketReader) throws(DecodeError)
}

extension PacketCodable {
  /// The value's bytes.
  public var encoded: [UInt8] {
    var writer = PacketWriter()
    encode(into: &writer)
    return writer.bytes
  }

  /// Reads exactly one value; bytes left over are `trailingBytes`.
  public init(decoding bytes: Span<UInt8>) throws(DecodeError) {
    var reader = PacketReader(bytes)
    try self.init(decoding: &reader)
    try reader.finish()
  }
}
