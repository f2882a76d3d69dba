import CaromCore

/// What a `PacketRegistry` made of a frame's body.
public enum ReceivedPacket: Sendable {
  /// A value of a registered type: `if case .value(let chat as Chat, _) = packet`.
  case value(any PacketPayload, action: UInt16)
  /// A packet of a type that nobody registered: from a newer peer, perhaps.
  case unknown(type: UInt16, action: UInt16, [UInt8])
  /// Bytes that do not fit their type; type and action are `nil` where there was no room for them.
  case malformed(type: UInt16?, action: UInt16?, DecodeError)
}
