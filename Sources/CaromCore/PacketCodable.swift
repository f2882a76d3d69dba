/// A value that defines its own binary wire format.
public protocol PacketCodable: Sendable {
  /// Appends the encoded value to `writer`.
  func encode(into writer: inout PacketWriter)

  /// Reads a value from untrusted bytes. Must throw, and never trap, if they are malformed.
  init(decoding reader: inout PacketReader) throws(DecodeError)
}

extension PacketCodable {
  /// The encoded value.
  public var encoded: [UInt8] {
    var writer = PacketWriter()
    encode(into: &writer)
    return writer.bytes
  }

  /// Reads a value that takes up all of `bytes`. Throws `trailingBytes` if bytes are left over.
  public init(decoding bytes: Span<UInt8>) throws(DecodeError) {
    var reader = PacketReader(bytes)
    try self.init(decoding: &reader)
    try reader.finish()
  }
}

extension String: PacketCodable {
  /// The longest string that can be decoded, in bytes of UTF-8.
  public static let maximumEncodedLength = 1 << 16

  /// Appends the length in UTF-8 bytes (`VarInt`), then the UTF-8.
  public func encode(into writer: inout PacketWriter) { writer.writeText(self) }

  /// Reads a string of at most `maximumEncodedLength` bytes.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    self = try reader.readText(limit: Self.maximumEncodedLength)
  }
}
