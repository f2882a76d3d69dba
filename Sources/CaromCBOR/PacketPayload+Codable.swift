import CaromCodec
import CaromCore

extension PacketPayload where Self: Codable {
  /// Returns the value, encoded as CBOR.
  public func encodedPayload() throws -> [UInt8] { try PacketEncoder().encode(self) }

  /// Creates a value by decoding the whole payload as CBOR. Throws if bytes are left over.
  public init(payload: Span<UInt8>, action: UInt16) throws(DecodeError) {
    self = try PacketDecoder().decode(Self.self, from: payload)
  }
}

extension PacketPayload where Self: Codable & PacketCodable {
  /// Returns the value, encoded in its `PacketCodable` format.
  public func encodedPayload() -> [UInt8] { encoded }

  /// Creates a `PacketCodable` value by decoding the whole payload. Throws if bytes are left over.
  public init(payload: Span<UInt8>, action: UInt16) throws(DecodeError) {
    try self.init(decoding: payload)
  }
}
