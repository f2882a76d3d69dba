import AirHockey
import ArgumentParser
import Carom
import Foundation

/// Hosts matches until the user quits.
struct HostCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "host", abstract: "Open a table and keep it open for new opponents.")

  @OptionGroup var options: PlayOptions
  @OptionGroup var net: NetOptions
  @Option(parsing: .unconditional, help: "The port to listen on; 0 lets the system choose.")
  var port = 0
  @Flag(
    help: "Start a computer opponent in a second process; it yields its seat to a person.")
  var opponent = false
  @Flag(help: "Do not advertise the table: players join by HOST:PORT.") var unlisted = false
  @Option(parsing: .unconditional, help: "End after this number of complete matches.") var matches:
    Int?

  func validate() throws {
    try PortRange.check(port)
    if let matches, matches < 1 {
      throw ValidationError("--matches must be a whole number, 1 or more.")
    }
    if opponent, net.protection.policy == .code || net.protection.policy == .known {
      throw ValidationError("--opponent has neither a code nor a known key: leave it out.")
    }
    if options.headless, net.protection.code?.isEmpty == true {
      throw ValidationError("--headless shows no code: give one with --code CODE.")
    }
  }

  func run() async throws {
    var setup = options.setup(try options.playerName(), net)
    setup.matchLimit = matches
    let protection = try net.protection.load(makesCode: true)
    setup.policy = protection.security.policy
    setup.notice = protection.notice
    try await host(setup, protection.security)
  }

  func host(_ setup: NetGame.Setup, _ security: SessionSecurity) async throws {
    try await options.playOverNetwork { loop, makeDisplay in
      let local = net.peer(setup.name)
      let table = HostNode(
        as: local, interfaces: net.interfaces, timing: net.timing, over: net.kinds,
        security: security, conditions: net.conditions, isListed: !unlisted, on: loop)
      let companion =
        opponent
        ? Companion(
          strength: options.strength, transport: net.transport, policy: security.policy) : nil
      let tablePort = try await table.listen(port: UInt16(port))
      let game = NetGame(
        setup, node: table.node,
        seatTaken: { table.update(freeSeats: $0.yieldsSeat ? 1 : 0) },
        seatFreed: {
          table.update(freeSeats: 1)
          companion?.start(port: tablePort)
        })
      await table.node.setHandler(owner: game) { game, event in game.handle(event) }
      do {
        try await game.begin(with: makeDisplay)
        try await table.advertise { line in game.announce(line) }
      } catch {
        await game.abandon()
        await table.close()
        throw error
      }
      companion?.start(port: tablePort)
      let summary = await game.finish()
      await table.close()
      companion?.stop()
      return summary
    }
  }
}
