import CaromCodec
import CaromCore

/// The constants of the session protocol, as the page WireFormat specifies them.
package enum SessionWire {
  /// The version of the session protocol. Peers that use a different version are refused.
  package static let version: UInt16 = 2

  /// The version of the encrypted session protocol.
  package static let sealedVersion: UInt16 = 3

  /// The length in bytes of the longest datagram on a data channel. Browsers cut longer messages of
  /// SCTP in two: Chromium at 1,163 bytes.
  package static let dataChannelPayload = 1_120

  /// The packet type of control packets.
  package static let controlType: UInt16 = 1
  /// The packet type of frames on a stream. The payload has the format of a data packet without its
  /// header.
  package static let carrierType: UInt16 = 3
  /// The channel of control packets.
  package static let controlChannel: UInt8 = 64

  /// The text at the beginning of a request.
  static let requestText = "get srv".utf8Bytes
  /// The text at the beginning of a grant.
  static let grantText = "srv ok".utf8Bytes

  /// The action of a control packet: the number that says what the packet requests or reports.
  package enum Action: UInt16, Sendable {
    case request = 1
    case grant = 2
    case goodbye = 3
    case ping = 4
    case pong = 5
    case join = 6
    case token = 7
    case handshake = 8
    case refusalTag = 9
    case keyChange = 10
  }
}

/// A packet that the session itself sends, rather than the application.
package enum ControlPacket: Hashable, Sendable {
  /// Requests a seat.
  case request(version: UInt16, ConnectionKey, PeerInfo)
  /// Grants a requested seat.
  case grant(version: UInt16, PeerInfo)
  case goodbye(Goodbye)
  /// Requests a pong that echoes `sent`.
  case ping(sent: UInt64)
  /// Answers a ping: repeats the ping's `sent` and adds the time on the answering side's clock,
  /// both in nanoseconds.
  case pong(sent: UInt64, clock: UInt64)
  /// Joins a stream to a connection whose initiator already has a seat, so that the host does not
  /// grant a second seat.
  case join(version: UInt16, ConnectionKey)
  /// Gives the client a token that saves a round trip when the client joins again.
  case token(AddressToken)
  /// A message of a stream's handshake. It precedes everything else on the stream.
  case handshake(version: UInt16, [UInt8])
  /// Gives the initiator of an encrypted connection the tag that proves that a refusal comes from
  /// the host.
  case refusalTag(AuthenticationTag)
  /// Announces that the next body on an encrypted stream is encrypted with another key.
  case keyChange

  /// The control packet as a `Packet`, the form in which it is sent on a stream.
  package var packet: Packet {
    var writer = PacketWriter()
    let action: SessionWire.Action
    switch self {
    case .request(let version, let key, let info):
      action = .request
      writer.write(SessionWire.requestText)
      writer.write(version)
      writer.write(key.prefix)
      writer.write(key.rest)
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
    case .join(let version, let key):
      action = .join
      writer.write(version)
      writer.write(key.prefix)
      writer.write(key.rest)
    case .token(let token):
      action = .token
      token.encode(into: &writer)
    case .handshake(let version, let message):
      action = .handshake
      writer.write(version)
      writer.write(message)
    case .refusalTag(let tag):
      action = .refusalTag
      tag.encode(into: &writer)
    case .keyChange: action = .keyChange
    }
    return Packet(
      type: SessionWire.controlType, action: action.rawValue, payload: writer.bytes)
  }

  /// Creates a control packet from a packet that was received on a stream. Returns nil if this
  /// version does not recognize the packet's action.
  package init?(_ packet: Packet) throws(DecodeError) {
    guard let action = SessionWire.Action(rawValue: packet.action) else { return nil }
    var reader = PacketReader(packet.payload.span)
    switch action {
    case .request:
      guard let version = try Self.readVersion(after: SessionWire.requestText, &reader) else {
        let key = ConnectionKey(prefix: try reader.read(), rest: try reader.read())
        self = .request(version: SessionWire.version, key, try PeerInfo(decoding: &reader))
        break
      }
      self = .request(version: version, .none, .unknown)
    case .grant:
      guard let version = try Self.readVersion(after: SessionWire.grantText, &reader) else {
        self = .grant(version: SessionWire.version, try PeerInfo(decoding: &reader))
        break
      }
      self = .grant(version: version, .unknown)
    case .goodbye: self = .goodbye(try Goodbye(decoding: &reader))
    case .ping: self = .ping(sent: try reader.read())
    case .pong: self = .pong(sent: try reader.read(), clock: try reader.read())
    case .join:
      let version: UInt16 = try reader.read()
      let key = ConnectionKey(prefix: try reader.read(), rest: try reader.read())
      self = .join(version: version, key)
    case .token: self = .token(try AddressToken(decoding: &reader))
    case .handshake:
      let version: UInt16 = try reader.read()
      self = .handshake(version: version, reader.readRest())
    case .refusalTag: self = .refusalTag(try AuthenticationTag(decoding: &reader))
    case .keyChange: self = .keyChange
    }
    try reader.finish()
  }

  /// The version of the protocol in a request or a grant, if it is not the one that this side uses;
  /// nil otherwise.
  var foreignVersion: UInt16? {
    switch self {
    case .request(let version, _, _), .grant(let version, _):
      version == SessionWire.version ? nil : version
    default: nil
    }
  }

  /// Reads the text and the protocol version at the beginning of a request or grant. Returns nil if
  /// the version is the one that this side uses. Otherwise returns the version and skips the rest
  /// of the packet, whose layout may differ.
  private static func readVersion(
    after text: [UInt8], _ reader: inout PacketReader
  ) throws(DecodeError) -> UInt16? {
    let found = try reader.readBytes(text.count)
    guard found == text else { throw .invalid(what: "text of a request or grant") }
    let version: UInt16 = try reader.read()
    guard version != SessionWire.version else { return nil }
    _ = reader.readRest()
    return version
  }
}

extension PeerInfo {
  /// A placeholder for the description of a peer that uses a different version of the protocol.
  package static let unknown = PeerInfo(
    id: PeerID(high: 0, low: 0), name: "", application: "unknown", applicationVersion: 0)
}
