import CaromCore

/// The type and action of a packet, for routing it without copying its payload.
public struct PacketHeader: Hashable, Sendable {
  /// The type of the payload.
  public let type: UInt16
  /// The action that the sender requests.
  public let action: UInt16

  /// Creates a header from the first four bytes of a frame's body. Throws if the body is shorter.
  public init(of body: Span<UInt8>) throws(DecodeError) {
    var reader = PacketReader(body)
    type = try reader.read()
    action = try reader.read()
  }
}
