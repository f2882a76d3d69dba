import CaromCodec
import CaromCore

/// The packets of the session protocol: what WireFormat writes down, and nothing else.
package enum SessionWire {
  /// The version of the session protocol; a peer with another one is refused.
  package static let version: UInt16 = 1

  /// The packet type of the session's own packets.
  package static let controlType: UInt16 = 1
  /// The packet type of an application's messages; the action is the channel.
  package static let messageType: UInt16 = 2

  package static let requestText = Array("get srv".utf8)
  package static let grantText = Array("srv ok".utf8)

  package enum Action: UInt16, Sendable {
    case request = 1
    case grant = 2
    case goodbye = 3
    case ping = 4
    case pong = 5
  }
}

/// A packet of the session's own.
package enum ControlPacket: Hashable, Sendable {
  /// "get srv": asks for a seat.
  case request(version: UInt16, PeerInfo)
  /// "srv ok": grants it.
  case grant(version: UInt16, PeerInfo)
  case goodbye(Goodbye)
  /// Asks for an answer; the number comes back in it.
  case ping(sent: UInt64)
  /// Answers a ping: its number, and the answering side's own clock, both in nanoseconds.
  case pong(sent: UInt64, clock: UInt64)

  package var packet: Packet {
    var writer = PacketWriter()
    let action: SessionWire.Action
    switch self {
    case .request(let version, let info):
      action = .request
      writer.write(SessionWire.requestText)
      writer.write(version)
      info.encode(into: &writer)
    case .grant(let version, let info):
      action = .grant
      writer.write(SessionWire.grantText)
      writer.write(version)
      info.encode(into: &writer)
    case .goodbye(let goodbye):
      action = .goodbye
      goodbye.encode(into: &writer)
    case .ping(let sent):
      action = .ping
      writer.write(sent)
    case .pong(let sent, let clock):
      action = .pong
      writer.write(sent)
      writer.write(clock)
    }
    return Packet(
      type: SessionWire.controlType, action: action.rawValue, payload: writer.bytes)
  }

  /// Reads a control packet; an action that this version does not know is `nil`.
  package init?(_ packet: Packet) throws(DecodeError) {
    guard let action = SessionWire.Action(rawValue: packet.action) else { return nil }
    var reader = PacketReader(packet.payload.span)
    switch action {
    case .request:
      let (version, info) = try Self.readIntroduction(after: SessionWire.requestText, &reader)
      self = .request(version: version, info)
    case .grant:
      let (version, info) = try Self.readIntroduction(after: SessionWire.grantText, &reader)
      self = .grant(version: version, info)
    case .goodbye: self = .goodbye(try Goodbye(decoding: &reader))
    case .ping: self = .ping(sent: try reader.read())
    case .pong: self = .pong(sent: try reader.read(), clock: try reader.read())
    }
    try reader.finish()
  }

  /// What a request and a grant say behind their `text`. Of another version only its number is
  /// read: what follows may have changed.
  private static func readIntroduction(
    after text: [UInt8], _ reader: inout PacketReader
  ) throws(DecodeError) -> (UInt16, PeerInfo) {
    let found = try reader.readBytes(text.count)
    guard found == text else { throw .invalid(what: "text of a request or grant") }
    let version: UInt16 = try reader.read()
    guard version == SessionWire.version else {
      _ = reader.readRest()
      return (version, .unknown)
    }
    return (version, try PeerInfo(decoding: &reader))
  }
}

extension PeerInfo {
  /// Stands in for what another version of the protocol says of a peer.
  package static let unknown = PeerInfo(
    id: PeerID(high: 0, low: 0), name: "", application: "unknown", applicationVersion: 0)
}
