import AirHockey
import ArgumentParser
import Carom

/// Plays against any player that is found on the network.
struct AutoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "auto",
    abstract: "Play with anyone on the network: join a free table, or open one.")

  @OptionGroup var options: PlayOptions
  @OptionGroup var net: NetOptions
  @Option(parsing: .unconditional, help: "Seconds to search before this table is advertised.")
  var window = 6
  @Option(parsing: .unconditional, help: "The port to listen on; 0 lets the system choose.")
  var port = 0

  func validate() throws {
    try PortRange.check(port)
    guard net.protection.policy != .token else {
      throw ValidationError("A connect token is for certain hosts: use it with join.")
    }
    guard (0...3600).contains(window) else {
      throw ValidationError("--window must be a whole number of seconds from 0 to 3600.")
    }
  }

  func run() async throws {
    let name = try options.playerName()
    var finding = MatchFinder.Options(type: GameWire.serviceType)
    finding.interfaces = net.interfaces
    finding.port = UInt16(port)
    finding.kinds = net.kinds
    finding.timing = net.timing
    finding.conditions = net.conditions
    finding.window = .seconds(window)
    let protection = try net.protection.load()
    finding.security = protection.security
    var setup = options.setup(name, net)
    setup.policy = protection.security.policy
    let seeking = finding
    try await options.playOverNetwork(setup) { loop, game in
      let finder = MatchFinder(as: net.peer(name), seeking, on: loop)
      try await finder.run { session, _ in await game.play(over: session) }
    }
  }
}
