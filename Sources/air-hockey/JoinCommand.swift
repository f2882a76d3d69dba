import AirHockey
import ArgumentParser
import Carom
import CaromPlacement
import CommandSupport

/// Joins a table by its name or address.
struct JoinCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Join a table by its NAME or by HOST:PORT, or a match of a fleet by its name.")

  @Argument(help: "A table's name on the network, HOST:PORT, or the name of a fleet's match.")
  var table: String
  @OptionGroup var options: PlayOptions
  @OptionGroup var net: NetOptions
  @Flag(name: .customLong("yield"), help: "Yield the seat to the first person who wants to join.")
  var yieldsSeat = false
  @OptionGroup var place: TableOption
  @OptionGroup var proxy: RoutingOptions
  @OptionGroup var fleet: FleetPlayOptions

  func validate() throws {
    try fleet.check(net.protection, isHost: false)
    if proxy.routing != nil, fleet.fleet != nil || net.protection.token != nil {
      throw ValidationError(
        "Connect tokens have the routing bytes: leave --routing-prefix and --routing-suffix out.")
    }
    if fleet.fleet != nil, yieldsSeat || place.number != nil {
      throw ValidationError("--yield and --table cannot be combined with --fleet: leave them out.")
    }
  }

  func run() async throws {
    if let address = try fleet.address() { return try await follow(in: address) }
    let name = try options.playerName()
    var setup = options.setup(name, net)
    setup.reopens = false
    setup.waiting = "joining \(table)"
    let protection = try net.protection.load()
    setup.policy = protection.security.policy
    try await options.join(
      table,
      as: place.applied(to: net.peer(name, id: protection.player, yieldsSeat: yieldsSeat)), setup,
      protection.security, through: proxy.routing, over: net)
  }

  /// Plays the fleet's match `table`, wherever it goes.
  private func follow(in address: FleetAddress) async throws {
    guard let match = MatchID(table) else {
      throw CommandFailure(.badName, "a match's name has 1 to 64 visible ASCII characters")
    }
    let name = try options.playerName()
    var setup = options.setup(name, net)
    setup.reopens = false
    setup.waiting = "joining match \(match)"
    setup.policy = .token
    let journey = FleetJourney(
      address: address, match: match, key: try net.protection.loadBackendKeys()[0],
      local: net.peer(name), net: net,
      patience: fleet.patience.map { .seconds($0) } ?? FleetJourney.defaultPatience)
    try await options.playOverNetwork(setup) { loop, game in
      try await journey.play(game, on: loop)
    }
  }
}

/// Watches a match as a spectator.
struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Watch the match at a table by its NAME, or by HOST:PORT.",
    discussion: "Only tables of 'host' and 'play' accept spectators; those of 'auto' do not.")

  @Argument(help: "A table's name on the network, or HOST:PORT.") var table: String
  @OptionGroup var options: PlayOptions
  @OptionGroup var net: NetOptions
  @OptionGroup var place: TableOption
  @OptionGroup var proxy: RoutingOptions

  func validate() throws { try net.protection.checkToken(isHost: false) }

  func run() async throws {
    let name = try options.playerName()
    var setup = options.setup(name, net)
    setup.reopens = false
    setup.isSpectator = true
    setup.waiting = "waiting for a match at \(table)"
    let protection = try net.protection.load()
    setup.policy = protection.security.policy
    try await options.join(
      table,
      as: place.applied(to: net.peer(name, id: protection.player, isSpectator: true)), setup,
      protection.security, through: proxy.routing, over: net)
  }
}

extension PlayOptions {
  /// Says what to do about a table that protects its connections differently from this side.
  private static func securityMismatch(with policy: SessionSecurity.Policy) -> String {
    policy == .code
      ? "that table shows no code: leave --code out, or use the --security of its host"
      : "that table is protected differently: join with --code CODE if it shows a code, "
        + "otherwise with the --security of its host"
  }

  /// Plays at a table or watches it, then prints the summary.
  func join(
    _ table: String, as local: PeerInfo, _ setup: NetGame.Setup, _ security: SessionSecurity,
    through routing: DatagramRouting? = nil, over net: NetOptions
  ) async throws {
    let search = try HostSearch(table: table, interfaces: net.interfaces)
    try await playOverNetwork(setup) { loop, game in
      do {
        let found = try await search.find(on: loop)
        try await Session.join(
          found.endpoints, as: local, over: net.kinds, timing: net.timing, security: security,
          hostKey: found.key, routing: routing.map { .bothWays($0) } ?? SessionRouting(),
          conditions: net.conditions, loop: loop
        ) { session, _ in await game.play(over: session) }
      } catch SessionError.refused(.full) where setup.isSpectator {
        throw CommandFailure(
          .unavailable, "that table takes no spectators, or has no place left for one")
      } catch SessionError.refused(.securityMismatch) {
        throw CommandFailure(.unavailable, Self.securityMismatch(with: security.policy))
      }
    }
  }
}
