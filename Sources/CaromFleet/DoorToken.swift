import CaromCore
import CaromCrypto
import CaromPlacement
import CaromSession

/// The door token of a player, as its host sends it: with the doors of the fleet, and valid for the
/// next three minutes.
package struct DoorToken: Hashable, Sendable {
  package let token: ConnectToken

  /// Creates the token of a player with this claim.
  init(
    for player: PeerID, with claim: MatchClaim, doors: [RoutedEndpoint], key: BackendKey,
    at now: UnixTime, using generator: inout some RandomNumberGenerator
  ) throws(ConnectTokenError) {
    token = try ConnectToken(
      asking: doors, player: player, lifetime: PlacementRules.doorTokenLifetime,
      data: claim.encoded, key: key, at: now, using: &generator)
  }
}

extension DoorToken: PacketCodable {
  package func encode(into writer: inout PacketWriter) { writer.write(token.bytes) }

  /// Reads a token, which is the whole message. Throws if it is another kind of connect token, or
  /// names no door.
  package init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard reader.remaining <= ConnectToken.maximumLength else {
      throw .tooLarge(
        length: UInt64(reader.remaining), limit: UInt64(ConnectToken.maximumLength))
    }
    token = try ConnectToken(decoding: try reader.readSpan(reader.remaining))
    guard token.isForDoors, !token.hosts.isEmpty else { throw .invalid(what: "door token") }
  }
}

extension MessageChannel<DoorToken> {
  /// The channel on which a host of a fleet sends its players their door tokens. The game must not
  /// use it.
  package static var doorTokens: Self { .init(63, .reliableOrdered) }
}
