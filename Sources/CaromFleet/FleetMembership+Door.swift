import CaromCore
import CaromCrypto
import CaromPlacement
import CaromTransport

// Every host is a door of its fleet.
extension FleetMembership {
  /// Answers a player who hears nothing from its host, and asks this one where its match is. If the
  /// player's host is gone, another one takes the match over.
  ///
  /// If the match has a host, even if that is the player's own, the player gets a token for it,
  /// valid for the 10 seconds for which the seat is reserved.
  package func answer(
    _ player: PeerID, in match: MatchID, key: BackendKey
  ) async throws(RedisError) -> HostFailover.DoorAnswer {
    switch try await ask(.locate(match, player: player)) {
    case .placed(let placement):
      let now = UnixTime(milliseconds: WallClock.milliseconds)
      do throws(ConnectTokenError) {
        let token = try placement.token(for: player, key: key, at: now, using: &generator)
        return .moved(token: token.bytes)
      } catch {
        // The host has registered an endpoint to which nobody can connect.
        throw .malformed(.invalid(what: "endpoint of a host"))
      }
    case .over(let result): return .over(result: result)
    case .refused(let refusal): return .refused(refusal)
    default: throw .malformed(.invalid(what: "answer of a directory"))
    }
  }

  /// Returns the endpoints at which the players of this host can ask where their match is, at most
  /// 6: those of up to 6 other hosts, and this one's own if there is room.
  package func findDoors() async throws(RedisError) -> [RoutedEndpoint] {
    guard case .doors(let others) = try await ask(.doors(of: record.id)) else { return [] }
    var doors: [RoutedEndpoint] = []
    for choice in 0..<ConnectToken.hostLimit {
      for host in others + [record] where choice < host.endpoints.count {
        doors.append(RoutedEndpoint(host.endpoints[choice], routing: host.routing))
      }
    }
    let usable = doors.filter { ConnectToken.isUsable($0.endpoint) }
    return Array(usable.prefix(PlacementRules.doorLimit))
  }

  private func ask(_ command: DirectoryCommand) async throws(RedisError) -> DirectoryAnswer {
    guard let connection else { throw absence ?? .transport(.closed) }
    return try await withCheckedContinuation { continuation in
      connection.assumeIsolated {
        $0.send(command, fleet: address.fleet) { continuation.resume(returning: $0) }
      }
    }.get()
  }
}
