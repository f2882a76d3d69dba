import ArgumentParser
import CaromCore
import CaromCrypto
import CaromFleet
import CaromPlacement
import CaromTransport

/// The `fleet place` command: finds a host for a match, and reserves the seats of its players.
struct FleetPlaceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "place",
    abstract: "Find a host for MATCH, and reserve a seat for each PLAYER for 10 seconds.",
    discussion: """
      With the backend's key, each player gets a connect token, with which it can join the host. \
      The token is secret: give it to its player alone.
      """)

  @Argument(help: "The name of the match: 1 to 64 visible ASCII characters.") var match: String
  @Argument(
    help: "The id of a player, 32 hexadecimal digits; up to 128. Default: a random one.")
  var player: [String] = []
  @Option(help: "The name of the game that the hosts run.") var game: String
  @Option(
    name: [.customLong("game-version"), .customLong("version")], help: "The version of the game.")
  var version: String
  @Option(help: "A region in which the host may be, the preferred one first; up to 8.")
  var near: [String] = []
  @OptionGroup var keyFile: KeyFileOption
  @OptionGroup var options: FleetOptions
  @OptionGroup var duration: TimeLimitOptions

  func run() async throws {
    let key = try keyFile.key()
    let request = try makeRequest(key)
    let output = Output(FleetRows.placementHeadings, json: options.json, isTable: false)
    try await options.run(output: output, for: duration.answerLimit) { directory in
      let placement: Placement
      switch try await directory.place(request) {
      case .success(let found): placement = found
      case .failure(let refusal):
        let obstacle = try await directory.findObstacle(
          to: request.match, of: request.game, refusal)
        throw CommandFailure(.unavailable, obstacle.description)
      }
      var generator = SystemGenerator()
      for player in request.players {
        let token = try key.map {
          try placement.token(
            for: player, key: $0, at: UnixTime(milliseconds: WallClock.milliseconds),
            using: &generator)
        }
        output.emit(FleetRows.placed(placement, player, token))
      }
    }
  }

  private func makeRequest(_ key: BackendKey?) throws -> PlacementRequest {
    guard let match = MatchID(match) else {
      throw CommandFailure(.badName, "MATCH must have 1 to 64 visible ASCII characters")
    }
    for (option, text) in [("--game", game), ("--game-version", version)]
      + near.map({ ("--near", $0) })
    where !FleetText.isValid(text) {
      throw CommandFailure(.badName, "\(option) must have 1 to 63 visible ASCII characters")
    }
    guard near.count <= PlacementRules.regionLimit else {
      throw CommandFailure(.usage, "--near can be given 8 times at most")
    }
    var generator = SystemGenerator()
    var players: [PeerID] = []
    for text in player {
      guard let id = PeerID(text) else {
        throw CommandFailure(.usage, "PLAYER '\(text)' does not have 32 hexadecimal digits")
      }
      guard !players.contains(id) else {
        throw CommandFailure(.usage, "PLAYER \(id) is given twice")
      }
      players.append(id)
    }
    if players.isEmpty { players = [.random(using: &generator)] }
    guard players.count <= PlacementRules.playerLimit else {
      throw CommandFailure(.usage, "a match has at most 128 players")
    }
    var request = PlacementRequest(
      match, players: players, game: GameVersion(game, version), near: near)
    request.key = key?.fingerprint
    return request
  }
}
