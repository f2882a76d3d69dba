import AirHockey
import ArgumentParser
import Carom

/// A table that is known by name or address.
struct JoinCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join", abstract: "Join a table by its NAME, or by HOST:PORT.")

  @Argument(help: "A table's name on the network, or HOST:PORT.") var table: String
  @OptionGroup var options: PlayOptions
  @OptionGroup var net: NetOptions
  @Flag(name: .customLong("yield"), help: "Leave the seat to the first person who asks for it.")
  var yieldsSeat = false

  func run() async throws {
    let name = try options.playerName()
    var setup = options.setup(name, net)
    setup.reopens = false
    setup.waiting = "joining \(table)"
    try await options.join(
      table, as: net.peer(name, yieldsSeat: yieldsSeat), setup, over: net)
  }
}

/// A match that others play.
struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Watch the match at a table by its NAME, or by HOST:PORT.",
    discussion: "Tables of 'host' and 'play' have room for watchers; those of 'auto' have none.")

  @Argument(help: "A table's name on the network, or HOST:PORT.") var table: String
  @OptionGroup var options: PlayOptions
  @OptionGroup var net: NetOptions

  func run() async throws {
    let name = try options.playerName()
    var setup = options.setup(name, net)
    setup.reopens = false
    setup.isWatching = true
    setup.waiting = "waiting for a match at \(table)"
    try await options.join(table, as: net.peer(name, isSpectator: true), setup, over: net)
  }
}

extension PlayOptions {
  /// Plays or watches at a table, and reports.
  func join(
    _ table: String, as local: PeerInfo, _ setup: NetGame.Setup, over net: NetOptions
  ) async throws {
    let search = TableSearch(table: table, interfaces: net.interfaces)
    try await playOverNetwork(watching: setup.isWatching) { loop, makeFace in
      let node = SessionNode(local, seats: 0, over: net.transport.kinds, on: loop)
      let game = NetGame(setup, node: node)
      await node.setHandler(owner: game) { game, event in game.handle(event) }
      try await game.begin(with: makeFace)
      let joining = Task { () -> (any Error)? in
        do {
          _ = try await node.connect(to: try await search.endpoints(on: loop))
          return nil
        } catch {
          await game.abandon()
          return error
        }
      }
      let summary = await game.finish()
      joining.cancel()
      let failure = await joining.value
      await node.shutdown()
      if let failure, await game.wasAbandoned { throw failure }
      return summary
    }
  }
}
