import AirHockey
import ArgumentParser
import Carom

/// A table that is known by name or address.
struct JoinCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join", abstract: "Join a table by its NAME, or by HOST:PORT.")

  /// How long a table of that name is looked for.
  static let searchLimit = Duration.seconds(6)

  @Argument(help: "A table's name on the network, or HOST:PORT.") var table: String
  @OptionGroup var options: PlayOptions
  @OptionGroup var net: NetOptions
  @Flag(name: .customLong("yield"), help: "Leave the seat to the first person who asks for it.")
  var yieldsSeat = false

  func run() async throws {
    let name = try options.playerName()
    try await options.playOverNetwork { loop, makeFace in
      let endpoints = try await endpoints(on: loop)
      let node = SessionNode(net.peer(name, yieldsSeat: yieldsSeat), seats: 0, on: loop)
      var setup = options.setup(name)
      setup.reopens = false
      setup.waiting = "joining \(table)"
      let game = NetGame(setup, node: node)
      await node.setHandler(owner: game) { game, event in game.handle(event) }
      _ = try await node.connect(to: endpoints)
      do {
        try await game.begin(with: makeFace)
      } catch {
        await node.shutdown()
        throw error
      }
      let summary = await game.finish()
      await node.shutdown()
      return summary
    }
  }

  private func endpoints(on loop: EventLoop) async throws -> [Endpoint] {
    guard let address = TableAddress(table) else { return try await find(on: loop) }
    let addresses = try await loop.lookup(host: address.host)
    return addresses.map { Endpoint($0, port: address.port) }
  }

  /// Looks for a table of that name, ASCII case aside.
  private func find(on loop: EventLoop) async throws -> [Endpoint] {
    let table = table
    let browser = ServiceBrowser(
      for: GameWire.serviceType, interfaces: net.interfaces, on: loop)
    let search = Task { () throws -> [Endpoint]? in
      for try await change in browser.changes {
        guard case .added(let service) = change,
          service.name.lowercased() == table.lowercased()
        else { continue }
        return try await service.resolve(within: Self.searchLimit).endpoints
      }
      return nil
    }
    let limit = Task {
      try await Task.sleep(for: Self.searchLimit)
      search.cancel()
    }
    defer { limit.cancel() }
    do {
      if let endpoints = try await search.value { return endpoints }
    } catch DiscoveryError.cancelled, DiscoveryError.timedOut {
      // Said below.
    }
    throw CommandFailure(
      .unavailable, "no table '\(table)' was found within 6 s: check its name and --interface")
  }
}
