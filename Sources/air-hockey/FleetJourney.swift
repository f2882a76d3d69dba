import Carom
import CaromCrypto
import CaromFleet
import CaromPlacement

/// The way of a player through its fleet: to the host where its match is placed, and from host to
/// host when the match moves.
struct FleetJourney {
  /// How long an attempt to join a host may take.
  private static let joinLimit = Duration.seconds(3)

  let address: FleetAddress
  let match: MatchID
  let key: BackendKey
  let local: PeerInfo
  let net: NetOptions

  /// Plays the match until it is over.
  func play(_ game: NetGame, on loop: NetworkLoop) async throws {
    let directory = FleetDirectory(address, on: loop)
    let follower = FleetFollower(
      local.id, in: match, of: .airHockey, directory: directory, key: key
    ) { step in game.assumeIsolated { $0.take(step) } }
    await game.becomeFleetPlayer(follower)
    let result: Result<Void, any Error>
    do {
      result = .success(try await play(game, follower, on: loop))
    } catch { result = .failure(error) }
    await follower.end()
    await directory.close()
    try result.get()
  }

  private func play(
    _ game: NetGame, _ follower: FleetFollower, on loop: NetworkLoop
  ) async throws {
    var token = try await place(follower)
    while true {
      let departure = try await visit(with: token, game, on: loop)
      guard let departure else { return }
      if case .moved(let next) = departure, let nextToken = next.token {
        token = nextToken
        await follower.moved(with: token)
        continue
      }
      await follower.lostHost()
      switch await game.nextStep() {
      case nil: return
      case .join(let next)?: token = next
      case .over?: return await game.end("finished")
      case .giveUp(let refusal)?:
        throw CommandFailure(
          .unavailable, refusal?.description ?? "the fleet's directory does not answer")
      }
    }
  }

  /// Has the fleet place the match, and returns the token for its host.
  private func place(_ follower: FleetFollower) async throws(CommandFailure) -> ConnectToken {
    let placed: Result<ConnectToken, PlacementRefusal>
    do throws(RedisError) { placed = try await follower.place() } catch {
      throw CommandFailure(.unreachable, error.description)
    }
    switch placed {
    case .success(let token): return token
    case .failure(let refusal): throw CommandFailure(.unavailable, refusal.description)
    }
  }

  /// Joins a host and plays there. Returns why the player has left the host, or could not join it,
  /// or nil if the game is over.
  private func visit(
    with token: ConnectToken, _ game: NetGame, on loop: NetworkLoop
  ) async throws -> FleetPlaying.Departure? {
    do {
      return try await Session.join(
        token.hosts, as: local, over: net.kinds, timing: net.timing, security: .token(token),
        within: Self.joinLimit, conditions: net.conditions, loop: loop
      ) { session, _ in await game.playAtHost(over: session) }
    } catch let error as SessionError where error.mayPassElsewhere {
      return .lost
    }
  }
}

extension SessionError {
  /// Whether another attempt, perhaps at another host, may succeed.
  fileprivate var mayPassElsewhere: Bool {
    switch self {
    case .transport(.cancelled), .refused(.versionMismatch), .refused(.wrongApplication),
      .refused(.securityMismatch), .refused(.tokenRefused(.notAuthentic)):
      false
    default: true
    }
  }
}
