import CaromCodec
import CaromCore

// Control packets as messages of the session's channel: type, action and payload. Pings and pongs,
// which are frequent, allocate nothing.
extension ControlPacket {
  /// Passes the control packet, as a message, to `body`.
  func withMessage(_ body: (Span<UInt8>) -> Void) {
    switch self {
    case .ping(let sent): body(Self.encode(.ping, sent, 0).span.extracting(..<12))
    case .pong(let sent, let clock): body(Self.encode(.pong, sent, clock).span)
    default:
      var writer = PacketWriter()
      packet.encode(into: &writer)
      body(writer.bytes.span)
    }
  }

  /// Returns the bytes of a control packet whose payload is two integers.
  private static func encode(
    _ action: SessionWire.Action, _ first: UInt64, _ second: UInt64
  ) -> InlineArray<20, UInt8> {
    let head = UInt64(SessionWire.controlType) | UInt64(action.rawValue) << 16
    return InlineArray { index in
      let (value, byte) =
        index < 4 ? (head, index) : index < 12 ? (first, index - 4) : (second, index - 12)
      return UInt8(truncatingIfNeeded: value >> UInt64(8 * byte))
    }
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
