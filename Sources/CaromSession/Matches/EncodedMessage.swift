import CaromCore

/// Bytes that a machine has encoded, such as a player's inputs or a snapshot. The receiving machine
/// decodes them.
public struct EncodedMessage: Hashable, Sendable, PacketCodable {
  /// The encoded bytes.
  public var bytes: [UInt8]

  /// Creates a message from encoded bytes.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Appends the bytes.
  public func encode(into writer: inout PacketWriter) { writer.write(bytes) }

  /// Creates a message from all remaining bytes.
  public init(decoding reader: inout PacketReader) { bytes = reader.readRest() }
}
