import CaromCore

/// What spares a guest a round trip when it joins the same host again: the host gave it to this
/// guest while they were connected, it counts for a day, once, and from the same address.
///
/// A token that does not count any more costs nothing: joining takes two round trips, as without.
public struct JoinToken: Hashable, Sendable {
  /// The host that gave it.
  public let host: Endpoint
  /// What only the host understands, 24 bytes.
  public var bytes: [UInt8] {
    var writer = PacketWriter(capacity: AddressToken.length)
    token.encode(into: &writer)
    return writer.bytes
  }

  package let token: AddressToken

  package init(_ token: AddressToken, of host: Endpoint) {
    self.host = host
    self.token = token
  }

  /// A token that was kept; `nil` where `bytes` are not 24.
  public init?(_ bytes: [UInt8], of host: Endpoint) {
    guard let token = AddressToken(bytes) else { return nil }
    self.init(token, of: host)
  }
}
