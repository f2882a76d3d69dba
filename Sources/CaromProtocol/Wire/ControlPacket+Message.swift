import CaromCodec
import CaromCore

// Control packets as messages of the session's channel: type, action and payload. Pings and pongs,
// which are frequent, allocate nothing.
extension ControlPacket {
  /// Appends the control packet as a message.
  func encode(into writer: inout PacketWriter) {
    switch self {
    case .ping(let sent):
      Self.encodeHead(.ping, into: &writer)
      writer.write(sent)
    case .pong(let sent, let clock):
      Self.encodeHead(.pong, into: &writer)
      writer.write(sent)
      writer.write(clock)
    default: packet.encode(into: &writer)
    }
  }

  private static func encodeHead(_ action: SessionWire.Action, into writer: inout PacketWriter) {
    writer.write(SessionWire.controlType)
    writer.write(action.rawValue)
  }

  /// Returns the control packet that a message contains, or nil if this version does not recognize
  /// its action.
  static func decode(_ message: Span<UInt8>) throws(DecodeError) -> ControlPacket? {
    var reader = PacketReader(message)
    let type: UInt16 = try reader.read()
    let action: UInt16 = try reader.read()
    guard type == SessionWire.controlType else { throw .invalid(what: "type of a message") }
    let control: ControlPacket
    switch SessionWire.Action(rawValue: action) {
    case .ping: control = .ping(sent: try reader.read())
    case .pong: control = .pong(sent: try reader.read(), clock: try reader.read())
    default: return try ControlPacket(try Packet(decoding: message))
    }
    try reader.finish()
    return control
  }
}
