import CaromCore
import CaromCrypto
import CaromProtocol
import CaromSession
import CaromTransport

extension Session {
  /// How long an attempt to join a host of a fleet may take.
  private static var fleetJoinLimit: Duration { .seconds(3) }

  /// The end of a player's visit of a host.
  private enum Visit<Result> {
    /// The player has left the match, or the host is gone after `body` had a result.
    case left(Result?)
    /// The host is gone, or could not be joined.
    case hostGone
  }

  /// Plays a match of a fleet, at whichever host has it.
  ///
  /// Joins the host that `token` names, and runs `body` with the session and the host. When the
  /// host moves the match, the player follows to the next one. When nothing has come from the host
  /// for 2 seconds, or the connection is lost, the player asks the other hosts where the match is;
  /// they have one of them go on with it from its last checkpoint. `body` runs once for each host,
  /// and on each the player has the same id.
  ///
  /// Return nil from `body` when its loops over messages, events or ticks have ended, which they do
  /// when the host is gone. A `SendError` that `body` throws counts as nil if the host is gone.
  ///
  /// The player needs neither the fleet's key nor its directory.
  ///
  /// - Parameters:
  ///   - token: The connect token that the matchmaker has given to this player; see
  ///     `FleetDirectory.place(_:for:of:near:key:)`.
  ///   - local: This player, with the id for which the token was made.
  ///   - kinds: The kinds of links that the player uses.
  ///   - timing: The time limits of the sessions.
  ///   - loop: The loop of all sessions.
  ///   - progress: Is called on the loop with each change of where the player is.
  ///   - body: Plays at a host.
  /// - Returns: The first result of `body` that is not nil; nil if the match is over, or `body` has
  ///   left the host without a result.
  /// - Throws: `FleetMatchError` if the first host cannot be joined or the match goes on nowhere,
  ///   `SessionError` if a host has sent the player away or refuses it for good, and what `body`
  ///   throws.
  public static func joinMatch<Result>(
    with token: ConnectToken, as local: PeerInfo, over kinds: LinkKinds = .all,
    timing: SessionTiming = SessionTiming(), loop: NetworkLoop,
    progress: @escaping @Sendable (MatchProgress) -> Void = { _ in },
    _ body: (Session, Peer) async throws -> Result?
  ) async throws -> Result? {
    let journey = MatchJourney(local, over: kinds, on: loop, progress)
    do {
      var token = token
      while true {
        await journey.depart(with: token)
        let visit = try await visitHost(
          of: token, on: journey, as: local, over: kinds, timing: timing, loop: loop, body)
        if case .left(let result) = visit {
          await journey.end()
          return result
        }
        switch try await journey.next() {
        case .join(let next): token = next
        case .over:
          await journey.end()
          return nil
        }
      }
    } catch {
      await journey.end()
      throw error
    }
  }

  private static func visitHost<Result>(
    of token: ConnectToken, on journey: MatchJourney, as local: PeerInfo, over kinds: LinkKinds,
    timing: SessionTiming, loop: NetworkLoop, _ body: (Session, Peer) async throws -> Result?
  ) async throws -> Visit<Result> {
    do {
      return try await join(
        token.hosts, as: local, over: kinds, timing: timing, security: .token(token),
        within: fleetJoinLimit, loop: loop
      ) { session, host in
        await journey.arrive(at: host, of: session)
        let result: Result?
        do { result = try await body(session, host) } catch let error as SendError {
          guard await journey.leave() else { throw error }
          return .hostGone
        }
        let isGone = await journey.leave()
        return isGone && result == nil ? .hostGone : .left(result)
      }
    } catch let error as SessionError where error.mayPassElsewhere {
      guard await journey.hasArrived else { throw FleetMatchError.notJoined(error) }
      return .hostGone
    }
  }
}

extension SessionError {
  /// Whether another attempt, perhaps at another host, may succeed.
  package var mayPassElsewhere: Bool {
    switch self {
    case .transport(.cancelled), .refused(.versionMismatch), .refused(.wrongApplication),
      .refused(.securityMismatch), .refused(.tokenRefused(.notAuthentic)):
      false
    default: true
    }
  }
}
