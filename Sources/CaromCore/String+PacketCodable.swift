extension String: PacketCodable {
  /// The longest text that is read, bytes of UTF-8.
  public static let maximumEncodedLength = 1 << 16

  /// Appends the text's length (`VarInt`, in UTF-8 bytes) and its UTF-8.
  public func encode(into writer: inout PacketWriter) { writer.writeText(self) }

  /// Reads a text of at most `maximumEncodedLength` bytes.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    self = try reader.readText(limit: Self.maximumEncodedLength)
  }
}
