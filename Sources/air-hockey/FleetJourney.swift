import Carom
import CaromCrypto
import CaromFleet
import CaromPlacement

/// The way of a player through its fleet: to the host where its match is placed, and from host to
/// host when the match moves.
///
/// This program is its own matchmaker: it asks the directory for a host, and makes the token with
/// the key of the fleet. From then on it is a player like any other, and has neither.
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
    let token = try await place(on: loop)
    let follower = FleetFollower(local, over: net.kinds, on: loop) { step in
      game.assumeIsolated { $0.take(step) }
    }
    await game.becomeFleetPlayer(follower)
    let result: Result<Void, any Error>
    do {
      result = .success(try await play(game, follower, with: token, on: loop))
    } catch { result = .failure(error) }
    await follower.end()
    try result.get()
  }

  private func play(
    _ game: NetGame, _ follower: FleetFollower, with token: ConnectToken, on loop: NetworkLoop
  ) async throws {
    var token = token
    await follower.joins(with: token)
    while true {
      let departure = try await visit(with: token, game, follower, on: loop)
      guard let departure else { return }
      if case .moved(let next) = departure, let nextToken = next.token {
        token = nextToken
        await follower.joins(with: token)
        continue
      }
      await follower.lostHost()
      switch await game.nextStep() {
      case nil: return
      case .join(let next)?: token = next
      case .over?: return await game.end("finished")
      case .giveUp(let refusal)?:
        throw CommandFailure(
          .unavailable, refusal?.description ?? "no other table of the fleet answers")
      }
    }
  }

  /// Has the fleet place the match, and returns the token for its host.
  private func place(on loop: NetworkLoop) async throws(CommandFailure) -> ConnectToken {
    let directory = FleetDirectory(address, on: loop)
    let placed: Result<Result<[ConnectToken], PlacementRefusal>, RedisError>
    do throws(RedisError) {
      placed = .success(
        try await directory.place(match, for: [local.id], of: .airHockey, key: key))
    } catch { placed = .failure(error) }
    await directory.close()
    switch placed {
    case .success(.success(let tokens)): return tokens[0]
    case .success(.failure(let refusal)):
      throw CommandFailure(.unavailable, refusal.description)
    case .failure(let error): throw CommandFailure(error)
    }
  }

  /// Joins a host and plays there. Returns why the player has left the host, or could not join it,
  /// or nil if the game is over.
  private func visit(
    with token: ConnectToken, _ game: NetGame, _ follower: FleetFollower, on loop: NetworkLoop
  ) async throws -> FleetPlaying.Departure? {
    do {
      return try await Session.join(
        token.hosts, as: local, over: net.kinds, timing: net.timing, security: .token(token),
        within: Self.joinLimit, conditions: net.conditions, loop: loop
      ) { session, _ in
        // It ends with the session.
        Task { [follower] in await follower.readDoors(of: session) }
        return await game.playAtHost(over: session)
      }
    } catch let error as SessionError where error.mayPassElsewhere {
      return .lost
    }
  }
}
