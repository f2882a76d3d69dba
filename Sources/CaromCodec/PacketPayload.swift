import CaromCore

/// A Swift type that is sent as one type of packet.
///
/// A `PacketCodable` type only has to define `packetType`, and is sent in its own format. With the
/// module `CaromCBOR`, that holds for any `Codable` type too, which is sent as CBOR.
///
///     struct Chat: Codable, PacketPayload {
///       static let packetType: UInt16 = 16
///       var text: String
///     }
public protocol PacketPayload: Sendable {
  /// The packet type on the wire. Carom reserves 0 to 15.
  static var packetType: UInt16 { get }

  /// The action to send with this value. The default is 0.
  var packetAction: UInt16 { get }

  /// Returns the encoded payload.
  func encodedPayload() throws -> [UInt8]

  /// Creates a value by decoding a payload of untrusted bytes. Must throw, and never trap, if they
  /// are malformed.
  init(payload: Span<UInt8>, action: UInt16) throws(DecodeError)
}

extension PacketPayload {
  /// The default action, 0.
  public var packetAction: UInt16 { 0 }
}

extension PacketPayload where Self: PacketCodable {
  /// Returns the value, encoded in its `PacketCodable` format.
  public func encodedPayload() -> [UInt8] { encoded }

  /// Creates a `PacketCodable` value by decoding the whole payload. Throws if bytes are left over.
  public init(payload: Span<UInt8>, action: UInt16) throws(DecodeError) {
    try self.init(decoding: payload)
  }
}

extension Packet {
  /// Creates a packet with `value` as its payload. Rethrows any error from the value's
  /// `encode(to:)`.
  public init<Payload: PacketPayload>(_ value: Payload) throws {
    self.init(
      type: Payload.packetType, action: value.packetAction, payload: try value.encodedPayload())
  }
}
