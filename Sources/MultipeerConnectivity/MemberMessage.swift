import CaromCore

/// A message between two members of a session, on the reliable channel.
///
/// Each side begins with `hello`, sends `ready` once it accepts the other one, and counts as
/// connected when it has both sent and received `ready`. The other messages follow.
enum MemberMessage: Hashable, Sendable {
  /// What a side says about its session and where it listens.
  case hello(MemberHello)
  /// The sender accepts the receiver as a member.
  case ready
  /// The last part of the application's data, which in most cases is all of it.
  case data([UInt8])
  /// A part of the application's data, of which more follows.
  case part([UInt8])
  /// Another member of the sender's session, to which the receiver should connect.
  case introduce(PeerAddress)
  /// The sender sends nothing more, and closes the connection when this message has arrived.
  case leave

  /// The maximum number of bytes of data in one message. Longer data is sent in parts.
  static let partLength = 256 << 10
  /// The maximum length of an application's data, in bytes.
  static let maximumDataLength = 64 << 20

  private enum Kind: UInt8 {
    case hello = 1
    case ready = 2
    case data = 3
    case part = 4
    case introduce = 5
    case leave = 6
  }
}

extension MemberMessage: PacketCodable {
  /// Appends the kind (1 byte) and the fields.
  func encode(into writer: inout PacketWriter) {
    switch self {
    case .hello(let hello):
      writer.append(Kind.hello.rawValue)
      hello.encode(into: &writer)
    case .ready: writer.append(Kind.ready.rawValue)
    case .data(let bytes):
      writer.append(Kind.data.rawValue)
      writer.write(bytes)
    case .part(let bytes):
      writer.append(Kind.part.rawValue)
      writer.write(bytes)
    case .introduce(let address):
      writer.append(Kind.introduce.rawValue)
      address.encode(into: &writer)
    case .leave: writer.append(Kind.leave.rawValue)
    }
  }

  /// Reads a message. Throws if its kind is unknown or a field is out of bounds.
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard let kind = Kind(rawValue: try reader.read()) else { throw .invalid(what: "kind") }
    switch kind {
    case .hello: self = .hello(try MemberHello(decoding: &reader))
    case .ready: self = .ready
    case .data: self = .data(reader.readRest())
    case .part: self = .part(reader.readRest())
    case .introduce: self = .introduce(try PeerAddress(decoding: &reader))
    case .leave: self = .leave
    }
  }
}

/// What a side says about its session.
struct MemberHello: Hashable, Sendable {
  /// The version of the protocol between members.
  static let version: UInt8 = 1

  var preference: MCEncryptionPreference
  /// Where other members reach this side.
  var endpoints: [Endpoint]
}

extension MemberHello: PacketCodable {
  /// Appends the version, the encryption preference (0 optional, 1 required, 2 none), and the
  /// endpoints.
  func encode(into writer: inout PacketWriter) {
    writer.append(Self.version)
    writer.append(UInt8(preference.rawValue))
    writer.writeEndpoints(endpoints)
  }

  /// Reads a hello. Throws if the version or the preference is unknown.
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard try reader.read() == Self.version else { throw .invalid(what: "version") }
    let number = Int(try reader.read(UInt8.self))
    guard let preference = MCEncryptionPreference(rawValue: number) else {
      throw .invalid(what: "encryption preference")
    }
    self.preference = preference
    endpoints = try reader.readEndpoints()
  }
}

/// Bytes that are a message by themselves.
struct RawMessage: PacketCodable {
  var bytes: [UInt8]

  /// Appends the bytes.
  func encode(into writer: inout PacketWriter) { writer.write(bytes) }

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads everything.
  init(decoding reader: inout PacketReader) { bytes = reader.readRest() }
}
