import CaromCore

/// A part of a file on the data channel: the number of the transfer and the offset of the first
/// byte (`VarInt` each), then 1 to `maximumLength` bytes of the file.
package enum TransferPiece {
  /// The maximum number of bytes of the file in one piece.
  package static let maximumLength = 64 << 10
  /// The number of bytes of the file in each piece that this version sends, except for the last
  /// one. With its two numbers, such a piece fits into a buffer of 64 KiB, where one of
  /// `maximumLength` would take a buffer of 128 KiB.
  package static let sentLength = 56 << 10

  /// Returns the message for a piece.
  package static func encode(_ number: UInt64, offset: UInt64, _ bytes: [UInt8]) -> [UInt8] {
    var writer = PacketWriter(capacity: bytes.count + 2 * VarInt.maximumLength)
    writer.writeVarInt(number)
    writer.writeVarInt(offset)
    writer.write(bytes)
    return writer.bytes
  }

  /// Decodes a piece. `bytes` are those of the file.
  @_lifetime(copy message)
  package static func decode(
    _ message: Span<UInt8>, number: inout UInt64, offset: inout UInt64
  ) throws(DecodeError) -> Span<UInt8> {
    var reader = PacketReader(message)
    number = try reader.readVarInt()
    offset = try reader.readVarInt()
    let count = reader.remaining
    guard count > 0 else { throw .truncated(wanted: 1, remaining: 0) }
    guard count <= maximumLength else {
      throw .tooLarge(length: UInt64(count), limit: UInt64(maximumLength))
    }
    return try reader.readSpan(count)
  }
}
