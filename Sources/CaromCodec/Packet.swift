import CaromCore

/// A message with a name: what kind it is, what it asks for, and the bytes of the rest.
///
/// In a frame's body: type and action, two bytes each, least significant first, then the payload.
public struct Packet: Hashable, Sendable {
  /// How many bytes stand before the payload.
  public static let headerLength = 4

  /// What the payload is; a `PacketRegistry` maps it to a Swift type.
  public var type: UInt16
  /// What is to be done with it; the meaning belongs to the type.
  public var action: UInt16
  /// The rest, as the type has it.
  public var payload: [UInt8]

  /// A packet of these parts.
  public init(type: UInt16, action: UInt16 = 0, payload: [UInt8] = []) {
    self.type = type
    self.action = action
    self.payload = payload
  }

  /// The whole frame in one buffer, length first, little-endian, with no limit but memory.
  public func framed() -> [UInt8] {
    var frame: [UInt8] = []
    Self.appendFrame(type: type, action: action, payload: payload.span, to: &frame)
    return frame
  }

  /// Appends the frame of a packet that is nowhere whole: its payload is copied once.
  public static func appendFrame(
    type: UInt16, action: UInt16, payload: Span<UInt8>, to buffer: inout [UInt8]
  ) {
    do {
      try FrameEncoder(limit: .max).append(
        type: type, action: action, payload: payload, to: &buffer)
    } catch {
      preconditionFailure("no body is over the largest Int")
    }
  }
}

extension Packet: PacketCodable {
  /// Appends type, action and payload: the body of a frame.
  public func encode(into writer: inout PacketWriter) {
    writer.write(type)
    writer.write(action)
    writer.write(payload)
  }

  /// Reads type and action, and takes all that is left as the payload.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    type = try reader.read()
    action = try reader.read()
    payload = reader.readRest()
  }
}
