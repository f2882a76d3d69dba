import CaromCore

/// A Swift type that travels as one type of packet.
///
/// Name the number and the rest follows from what the type is already: a `PacketCodable` travels
/// in its own layout, any other `Codable` as CBOR (`PacketEncoder`).
///
///     struct Chat: Codable, PacketPayload {
///       static let packetType: UInt16 = 16
///       var text: String
///     }
public protocol PacketPayload: Sendable {
  /// The number on the wire. 0 to 15 belong to Carom.
  static var packetType: UInt16 { get }

  /// What is to be done with it; 0 unless the type says otherwise.
  var packetAction: UInt16 { get }

  /// The payload's bytes.
  func encodedPayload() throws -> [UInt8]

  /// Reads a payload that somebody else wrote; whatever does not fit is a `DecodeError`.
  init(payload: Span<UInt8>, action: UInt16) throws(DecodeError)
}

extension PacketPayload {
  /// 0
  public var packetAction: UInt16 { 0 }
}

extension PacketPayload where Self: PacketCodable {
  /// The bytes of the type's own layout.
  public func encodedPayload() -> [UInt8] { encoded }

  /// Reads the type's own layout, to the last byte.
  public init(payload: Span<UInt8>, action: UInt16) throws(DecodeError) {
    try self.init(decoding: payload)
  }
}

extension PacketPayload where Self: Codable {
  /// The value as CBOR.
  public func encodedPayload() throws -> [UInt8] { try PacketEncoder().encode(self) }

  /// Reads the value from CBOR, to the last byte.
  public init(payload: Span<UInt8>, action: UInt16) throws(DecodeError) {
    self = try PacketDecoder().decode(Self.self, from: payload)
  }
}

extension PacketPayload where Self: Codable & PacketCodable {
  /// The bytes of the type's own layout.
  public func encodedPayload() -> [UInt8] { encoded }

  /// Reads the type's own layout, to the last byte.
  public init(payload: Span<UInt8>, action: UInt16) throws(DecodeError) {
    try self.init(decoding: payload)
  }
}

extension Packet {
  /// The packet that carries `value`. Throws what the value's own `encode(to:)` throws.
  public init<Payload: PacketPayload>(_ value: Payload) throws {
    self.init(
      type: Payload.packetType, action: value.packetAction, payload: try value.encodedPayload())
  }
}
