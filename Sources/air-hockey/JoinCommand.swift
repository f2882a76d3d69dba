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
    let search = TableSearch(table: table, interfaces: net.interfaces)
    try await options.playOverNetwork { loop, makeFace in
      let node = SessionNode(
        net.peer(name, yieldsSeat: yieldsSeat), seats: 0, over: net.transport.kinds, on: loop)
      var setup = options.setup(name)
      setup.reopens = false
      setup.waiting = "joining \(table)"
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
