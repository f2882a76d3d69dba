import Carom
import CaromCrypto
import CaromFleet
import CaromPlacement
import CommandSupport

/// The way of a player through its fleet: to the host where its match is placed, and from host to
/// host when the match moves.
///
/// This program is its own matchmaker: it asks the directory for a host, and makes the token with
/// the key of the fleet. From then on it is a player like any other, and has neither.
struct FleetJourney {
  /// How long a player waits for a table, unless an option says how long: as long as players whose
  /// host has died look for the match.
  static let defaultPatience = Duration.seconds(60)
  /// How long an attempt to join a host may take.
  private static let joinLimit = Duration.seconds(3)
  /// The time between two requests for a table.
  private static let placingInterval = Duration.milliseconds(500)

  let address: FleetAddress
  let match: MatchID
  let key: BackendKey
  let local: PeerInfo
  let net: NetOptions
  /// How long the player waits for a table.
  let patience: Duration

  /// Plays the match until it is over.
  func play(_ game: NetGame, on loop: NetworkLoop) async throws {
    let token = try await place(for: game, on: loop)
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
    var hasEnded = false
    await follower.joins(with: token)
    while true {
      let departure = try await visit(with: token, game, follower, on: loop)
      guard let departure else { return }
      if case .moved(let next) = departure, let nextToken = next.token {
        token = nextToken
        await follower.joins(with: token)
        continue
      }
      // A table that cannot be joined afterwards changes nothing about why the last one is gone.
      if case .ended = departure { hasEnded = true }
      await follower.lostHost()
      switch await game.nextStep() {
      case nil: return
      case .join(let next)?: token = next
      case .over?: return await game.end("finished")
      case .giveUp(let refusal)?:
        throw CommandFailure(.unavailable, Self.giveUpLine(refusal, hasEnded: hasEnded))
      }
    }
  }

  private static func giveUpLine(_ refusal: PlacementRefusal?, hasEnded: Bool) -> String {
    let reason = refusal?.description ?? "no other table of the fleet answers"
    return hasEnded ? "the table has ended without another one for the match: \(reason)" : reason
  }

  // MARK: The first host

  /// Why there is no token yet.
  private struct Trouble: Error {
    let failure: CommandFailure
    /// What is said while the player waits; nil if waiting is of no use.
    let waiting: String?
  }

  /// Has the fleet place the match, and returns the token for its host. Waits for a table while
  /// there is none, or no directory.
  private func place(for game: NetGame, on loop: NetworkLoop) async throws -> ConnectToken {
    let directory = FleetDirectory(address, on: loop)
    let deadline = loop.now + patience
    do {
      var told: String?
      while true {
        switch await request(from: directory) {
        case .success(let token):
          await directory.close()
          return token
        case .failure(let trouble):
          guard let line = trouble.waiting, loop.now < deadline else { throw trouble.failure }
          if told != line {
            await game.warn("\(line): waiting up to \(patience.components.seconds) s")
          }
          told = line
          try await loop.sleep(until: min(deadline, loop.now + Self.placingInterval))
        }
      }
    } catch {
      await directory.close()
      throw error
    }
  }

  private func request(
    from directory: FleetDirectory
  ) async -> Result<ConnectToken, Trouble> {
    do throws(RedisError) {
      switch try await directory.place(match, for: [local.id], of: .airHockey, key: key) {
      case .success(let tokens): return .success(tokens[0])
      case .failure(let refusal):
        let obstacle = try await directory.findObstacle(to: match, of: .airHockey, refusal)
        return .failure(
          Trouble(
            failure: CommandFailure(.unavailable, obstacle.description),
            waiting: obstacle.mayPass ? obstacle.what : nil))
      }
    } catch {
      return .failure(
        Trouble(failure: CommandFailure(error), waiting: error.mayPass ? error.line : nil))
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
