import CaromCore
import CaromGroup

/// What an invitation's context contains on the wire: why the inviter wants to connect.
enum InvitationEnvelope: Hashable, Sendable {
  /// A browser invites a peer that an advertiser has made visible under this service type.
  case invitation(serviceType: String, context: [UInt8]?)
  /// A member of both sides' session has told them of each other.
  case introduction
  /// The inviter has connection data of the invited session, which begins with this token.
  case connectionData(token: SessionToken)

  /// The version of the format.
  static let version: UInt8 = 1
  /// The maximum length of an application's context, in bytes.
  static let maximumContextLength = InvitationRequest.maximumContextLength - 32

  private enum Kind: UInt8 {
    case invitation = 1
    case invitationWithContext = 2
    case introduction = 3
    case connectionData = 4
  }
}

extension InvitationEnvelope: PacketCodable {
  /// Appends the version, the kind, and the fields.
  func encode(into writer: inout PacketWriter) {
    writer.append(Self.version)
    switch self {
    case .invitation(let serviceType, let context):
      writer.append((context == nil ? Kind.invitation : .invitationWithContext).rawValue)
      writer.writeText(serviceType)
      if let context { writer.write(context) }
    case .introduction: writer.append(Kind.introduction.rawValue)
    case .connectionData(let token):
      writer.append(Kind.connectionData.rawValue)
      writer.write(token.bytes)
    }
  }

  /// Reads a context. Throws if its version or kind is unknown.
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard try reader.read() == Self.version else { throw .invalid(what: "version") }
    guard let kind = Kind(rawValue: try reader.read()) else { throw .invalid(what: "kind") }
    switch kind {
    case .invitation, .invitationWithContext:
      let serviceType = try reader.readText(limit: 15)
      let context = kind == .invitation ? nil : reader.readRest()
      self = .invitation(serviceType: serviceType, context: context)
    case .introduction: self = .introduction
    case .connectionData: self = .connectionData(token: try SessionToken(decoding: &reader))
    }
  }
}

/// A random number that names one session. A peer that knows it was given the session's connection
/// data.
struct SessionToken: Hashable, Sendable {
  static let length = 16
  let bytes: [UInt8]

  /// Creates a new token from the system's random numbers.
  init() { bytes = (0..<Self.length).map { _ in UInt8.random(in: .min ... .max) } }
}

extension SessionToken: PacketCodable {
  /// Appends the 16 bytes.
  func encode(into writer: inout PacketWriter) { writer.write(bytes) }

  /// Reads 16 bytes.
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    bytes = try reader.readBytes(Self.length)
  }
}
