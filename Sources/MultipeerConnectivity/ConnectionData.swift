import CaromCore

/// The data that one peer gives another outside of this module, so that the two can connect without
/// discovery.
struct ConnectionData: Hashable, Sendable {
  /// The version of the format.
  static let version: UInt8 = 1

  var address: PeerAddress
  /// The session that the data belongs to.
  var token: SessionToken
}

extension ConnectionData: PacketCodable {
  /// Appends the version, the peer's address and the token.
  func encode(into writer: inout PacketWriter) {
    writer.append(Self.version)
    address.encode(into: &writer)
    token.encode(into: &writer)
  }

  /// Reads connection data. Throws if its version is unknown.
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard try reader.read() == Self.version else { throw .invalid(what: "version") }
    address = try PeerAddress(decoding: &reader)
    token = try SessionToken(decoding: &reader)
  }
}
