/// A value that defines its own binary wire format.
public protocol PacketCodable: Sendable {
  /// Appends the encoded value to `writer`.
  func encode(into writer: inout PacketWriter)

  /// Creates a value by decoding untrusted bytes. Must throw, and never trap, if they are
  /// malformed.
  init(decoding reader: inout PacketReader) throws(DecodeError)
}

extension PacketCodable {
  /// The value in its binary wire format.
  public var encoded: [UInt8] {
    var writer = PacketWriter()
    encode(into: &writer)
    return writer.bytes
  }

  /// Creates a value by decoding all of `bytes`. Throws `trailingBytes` if bytes are left over.
  public init(decoding bytes: Span<UInt8>) throws(DecodeError) {
    var reader = PacketReader(bytes)
    try self.init(decoding: &reader)
    try reader.finish()
  }
}

extension String: PacketCodable {
  /// The maximum length of a string that can be decoded, in bytes of UTF-8.
  public static let maximumEncodedLength = 1 << 16

  /// Appends the string: its length in UTF-8 bytes (`VarInt`), then those bytes.
  public func encode(into writer: inout PacketWriter) { writer.writeText(self) }

  /// Creates a string by decoding at most `maximumEncodedLength` bytes of UTF-8.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    self = try reader.readText(limit: Self.maximumEncodedLength)
  }
}
