import CaromCore
import CaromCrypto
import CaromPlacement
import CaromTransport

extension FleetMembership {
  /// Answers a player who hears nothing from its host, and asks this one where its match is. If the
  /// player's host is gone, another one takes the match over.
  ///
  /// The token is the one with which the player joined; it counts here even after its time. The
  /// answer is nil if it was not made with `key`, or not for a match of a fleet. If the match has
  /// another claim, the player gets a new token, valid for the 10 seconds for which the seat is
  /// reserved.
  package func answer(
    _ token: ConnectToken, key: BackendKey
  ) async throws(RedisError) -> HostFailover.DoorAnswer? {
    guard let (player, data) = token.open(with: key),
      let claim = try? MatchClaim(decoding: data.span)
    else { return nil }
    switch try await locate(claim.match, for: player) {
    case .placed(let placement) where placement.claim == claim: return .stay
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

  private func locate(
    _ match: MatchID, for player: PeerID
  ) async throws(RedisError) -> DirectoryAnswer {
    guard let connection else { throw absence ?? .transport(.closed) }
    return try await withCheckedContinuation { continuation in
      connection.assumeIsolated {
        $0.send(.locate(match, player: player), fleet: address.fleet) {
          continuation.resume(returning: $0)
        }
      }
    }.get()
  }
}
