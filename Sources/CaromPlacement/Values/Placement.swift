import CaromCore
import CaromCrypto

/// A request for a host that runs a match for certain players.
public struct PlacementRequest: Hashable, Sendable {
  /// The match. A request for a match that has a host already adds players to it.
  public let match: MatchID
  /// The players who need a seat, 1 to 128, each once.
  public let players: [PeerID]
  /// The game and its version.
  public let game: GameVersion
  /// The regions in which the host may be, the preferred one first, at most 8. If there is none,
  /// the host may be in any region.
  public let regions: [String]
  /// The key with which the players' tokens are made, so that every host can accept them; nil if no
  /// tokens are made.
  package var key: KeyFingerprint?

  /// Creates a request. All arguments must be within the limits that the properties state.
  public init(
    _ match: MatchID, players: [PeerID], game: GameVersion, near regions: [String] = []
  ) {
    precondition(
      1...PlacementRules.playerLimit ~= players.count, "a match is placed for 1 to 128 players")
    precondition(Set(players).count == players.count, "each player is named once")
    precondition(regions.count <= PlacementRules.regionLimit, "a request has at most 8 regions")
    precondition(
      regions.allSatisfy { FleetText.isValid($0) }, "a region has 1 to 63 visible ASCII characters")
    self.match = match
    self.players = players
    self.game = game
    self.regions = regions
  }
}

/// The host that runs a match.
public struct Placement: Hashable, Sendable {
  /// The claim of the host.
  public let claim: MatchClaim
  /// The host.
  public let host: HostRecord

  /// Creates a placement.
  public init(_ claim: MatchClaim, at host: HostRecord) {
    self.claim = claim
    self.host = host
  }

  /// Returns the token with which a player joins the host, so that the host need not ask anybody.
  ///
  /// Only those who have the backend key can make it. It is valid for the 10 seconds for which the
  /// seat is reserved, and its data is the claim.
  public func token(
    for player: PeerID, key: BackendKey, at now: UnixTime,
    using generator: inout some RandomNumberGenerator
  ) throws(ConnectTokenError) -> ConnectToken {
    try ConnectToken(
      for: host.endpoints, routing: host.routing, player: player,
      lifetime: PlacementRules.reservation, data: claim.encoded, key: key, at: now,
      using: &generator)
  }
}

/// The reasons why a match has no host.
public enum PlacementRefusal: Error, Hashable, Sendable {
  /// No host in the allowed regions has enough free seats: start more hosts, or try again later.
  case noRoom
  /// No host of the fleet runs this version of the game: start one, or check the version.
  case noSuchVersion
  /// The match has a host already, which runs another game or version: give another name to this
  /// match.
  case otherVersion
  /// The match is over: give another name to the next one.
  case matchIsOver
  /// The directory does not know of the match: place it.
  case unknownMatch
  /// The match would have more than 128 players.
  case tooManyPlayers
  /// Not every host of the fleet has the key with which the tokens are made: give the same key to
  /// all hosts and to the matchmaker.
  case otherKey
}

extension PlacementRefusal: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .noRoom: "no host has enough free seats: start more hosts, or try again later"
    case .noSuchVersion:
      "no host of the fleet runs this version of the game: start one, or check the version"
    case .otherVersion:
      "the match runs another game or version already: give another name to this one"
    case .matchIsOver: "the match is over: give another name to the next one"
    case .unknownMatch: "the fleet does not know of this match: place it"
    case .otherKey:
      "not every host of the fleet has this key: give the same one to all hosts and the matchmaker"
    case .tooManyPlayers: "a match has at most 128 players: place another match"
    }
  }
}
