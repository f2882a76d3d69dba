import CaromCore

/// A typed message: a type, an action and a payload.
///
/// A packet is encoded as its type and action, each a 16-bit little-endian integer, followed by the
/// payload, which extends to the end.
public struct Packet: Hashable, Sendable {
  /// The number of bytes before the payload.
  public static let headerLength = 4

  /// The type of the payload, which a `PacketRegistry` maps to a Swift type.
  public var type: UInt16
  /// The action that the sender requests. Each type defines its own actions.
  public var action: UInt16
  /// The payload, encoded in the format that `type` defines.
  public var payload: [UInt8]

  /// Creates a packet from its parts.
  public init(type: UInt16, action: UInt16 = 0, payload: [UInt8] = []) {
    self.type = type
    self.action = action
    self.payload = payload
  }

  /// Returns the packet as a frame with a little-endian header. The frame's length is not limited.
  public func framed() -> [UInt8] {
    var frame: [UInt8] = []
    Self.appendFrame(type: type, action: action, payload: payload.span, to: &frame)
    return frame
  }

  /// Appends a frame that contains a packet to `buffer` without creating a `Packet`. Copies the
  /// payload once.
  public static func appendFrame(
    type: UInt16, action: UInt16, payload: Span<UInt8>, to buffer: inout [UInt8]
  ) {
    do {
      try FrameEncoder(limit: .max).append(
        type: type, action: action, payload: payload, to: &buffer)
    } catch {
      preconditionFailure("a body cannot be larger than Int.max")
    }
  }
}

extension Packet: PacketCodable {
  /// Appends the type, the action and the payload in the layout documented at `Packet`.
  public func encode(into writer: inout PacketWriter) {
    writer.write(type)
    writer.write(action)
    writer.write(payload)
  }

  /// Creates a packet by decoding the type and the action. All remaining bytes are the payload.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    type = try reader.read()
    action = try reader.read()
    payload = reader.readRest()
  }
}
