import CaromPlacement

/// Why a match has no host, together with what the fleet has instead: for those who run the fleet,
/// who cannot tell from the refusal alone whether hosts are missing, have another version, or are
/// full.
package enum PlacementObstacle: Hashable, Sendable {
  /// The fleet has no host.
  case noHost
  /// The hosts of the fleet run these other games or versions.
  case otherVersions([GameVersion], not: GameVersion)
  /// The hosts that may have the match have no room.
  case hostsFull
  /// The match has a host, which has no seat for more players.
  case matchFull(MatchID)
  /// The refusal says it all.
  case refused(PlacementRefusal)

  /// Whether the same request may succeed later, when a host has started or a seat is free.
  package var mayPass: Bool {
    switch self {
    case .noHost, .otherVersions, .hostsFull, .matchFull: true
    case .refused(let refusal): refusal == .noSuchVersion || refusal == .noRoom
    }
  }

  /// What is the matter, without what to do.
  package var what: String {
    switch self {
    case .noHost: "the fleet has no host"
    case .otherVersions(let versions, let wanted):
      "the hosts of the fleet run \(versions.map(\.description).joined(separator: ", ")), "
        + "and none runs \(wanted)"
    case .hostsFull: "no host has enough free seats"
    case .matchFull(let match): "match \(match) is full: its host has no free seat"
    case .refused(let refusal): refusal.description
    }
  }
}

extension PlacementObstacle: CustomStringConvertible {
  /// A line for users that says what is the matter and what to do.
  package var description: String {
    switch self {
    case .noHost: "\(what): start one, or try again later"
    case .otherVersions: "\(what): start a host of this version, or check the version"
    case .hostsFull: PlacementRefusal.noRoom.description
    case .matchFull: "\(what): give another match another name, or try again later"
    case .refused: what
    }
  }
}

extension FleetDirectory {
  /// Finds out what a refusal means for this match of this game.
  package func findObstacle(
    to match: MatchID, of game: GameVersion, _ refusal: PlacementRefusal
  ) async throws(RedisError) -> PlacementObstacle {
    switch refusal {
    case .noSuchVersion:
      let versions = Set(try await status().hosts.map(\.record.game))
      // A host of this version may have come since.
      guard !versions.contains(game) else { return .refused(refusal) }
      guard !versions.isEmpty else { return .noHost }
      return .otherVersions(
        versions.sorted { ($0.game, $0.version) < ($1.game, $1.version) }, not: game)
    case .noRoom:
      guard case .hosted? = try await status(of: match) else { return .hostsFull }
      return .matchFull(match)
    default: return .refused(refusal)
    }
  }
}

extension RedisError {
  /// Whether the directory may answer later although nobody changes its address, the password, the
  /// files or the permissions.
  package var mayPass: Bool {
    switch self {
    case .transport(.permissionDenied), .transport(.outOfDescriptors), .transport(.cancelled),
      .transport(.closed):
      false
    case .transport, .timedOut, .tooManyCommands, .loading, .functionMissing: true
    case .noAnswer, .webServer, .tls, .tlsFiles, .malformed, .passwordRequired, .passwordRejected,
      .notPermitted, .functionsUnsupported, .failed:
      false
    }
  }
}
