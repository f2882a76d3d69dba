import AirHockey
import ArgumentParser
import Carom
import Foundation

/// A table of one's own.
struct HostCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "host", abstract: "Open a table, and keep it open.")

  @OptionGroup var options: PlayOptions
  @OptionGroup var net: NetOptions
  @Option(help: "The port to listen on; 0 lets the system choose.") var port: UInt16 = 0
  @Flag(
    help: "Let a computer opponent join from a second process; it leaves its seat to a person.")
  var opponent = false
  @Flag(help: "Do not tell the network: whoever knows HOST:PORT can join.") var unlisted = false
  @Option(help: "End after this many whole matches.") var matches: Int?

  func validate() throws {
    if let matches, matches < 1 {
      throw ValidationError("--matches wants a whole number, 1 or more.")
    }
  }

  func run() async throws {
    var setup = options.setup(try options.playerName(), net)
    setup.matchLimit = matches
    try await host(setup)
  }

  func host(_ setup: NetGame.Setup) async throws {
    try await options.playOverNetwork { loop, makeFace in
      let local = net.peer(setup.name)
      let table = OpenTable(
        as: local, interfaces: net.interfaces, over: net.transport.kinds, isListed: !unlisted,
        on: loop)
      let companion =
        opponent ? Companion(strength: options.strength, transport: net.transport) : nil
      let tablePort = try await table.listen(port: port)
      let game = NetGame(
        setup, node: table.node,
        seatTaken: { table.update(freeSeats: $0.yieldsSeat ? 1 : 0) },
        seatFreed: {
          table.update(freeSeats: 1)
          companion?.invite(to: tablePort)
        })
      await table.node.setHandler(owner: game) { game, event in game.handle(event) }
      do {
        try await game.begin(with: makeFace)
        let tell = { @Sendable (line: String) in game.announce(line) }
        try await table.advertise(tell)
      } catch {
        await game.abandon()
        await table.close()
        throw error
      }
      companion?.invite(to: tablePort)
      let summary = await game.finish()
      await table.close()
      companion?.dismiss()
      return summary
    }
  }
}
