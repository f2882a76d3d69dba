import AirHockeyTerminal
import Carom
import Testing

@testable import air_hockey

/// What a game over the network shows on the screen.
@Suite(.timeLimit(.minutes(1))) struct NetGameViewTests {
  /// A display that passes each view on.
  private struct ViewDisplay: GameDisplay {
    let views: AsyncStream<TableView>.Continuation

    func present(_ view: TableView) { views.yield(view) }
  }

  /// A game of the computer on a loop, and what it shows.
  private struct Shown {
    let game: NetGame
    let node: SessionNode
    let views: AsyncStream<TableView>

    init(
      _ name: String, seats: Int = 0, spectatorSeats: Int = 0, isSpectator: Bool = false,
      on loop: NetworkLoop
    ) async throws {
      let info = PeerInfo(
        id: .random(), name: name, application: GameWire.application, isSpectator: isSpectator)
      node = SessionNode(info, seats: seats, spectatorSeats: spectatorSeats, on: loop)
      var setup = NetGame.Setup(name: name, bot: true, strength: .easy)
      setup.isSpectator = isSpectator
      game = NetGame(setup, node: node)
      let (views, continuation) = AsyncStream.makeStream(
        of: TableView.self, bufferingPolicy: .bufferingNewest(1))
      self.views = views
      await node.setHandler(owner: game) { game, event in game.handle(event) }
      try await game.begin { ViewDisplay(views: continuation) }
    }

    /// Waits for a view for which `isWanted` returns true.
    func view(where isWanted: (TableView) -> Bool) async throws -> TableView {
      for await view in views where isWanted(view) { return view }
      throw CancellationError()
    }

    func end() async {
      await game.end("over", nil)
      await node.shutdown()
    }
  }

  @Test func `after the other side has gone, the waiting screen says who has left`() async throws {
    try await withNetworkLoop { loop in
      let host = try await Shown("Maya", seats: 1, on: loop)
      let port = try await host.node.listen(on: [.loopback4])
      let first = try await host.view { _ in true }
      #expect(first.banner?.detail == "waiting for a player")
      let client = try await Shown("Leo", on: loop)
      _ = try await client.node.connect(to: [Endpoint(.loopback4, port: port)])
      _ = try await host.view { $0.banner == nil }
      await client.end()
      let waiting = try await host.view { $0.banner?.title == "Waiting" }
      #expect(waiting.banner?.detail == "waiting for a player · Leo is gone (left)")
      await host.end()
    }
  }

  @Test func `a spectator sees the names of both players, and no keys that move a mallet`()
    async throws
  {
    try await withNetworkLoop { loop in
      let host = try await Shown("Maya", seats: 1, spectatorSeats: 1, on: loop)
      let endpoints = [Endpoint(.loopback4, port: try await host.node.listen(on: [.loopback4]))]
      let client = try await Shown("Leo", on: loop)
      _ = try await client.node.connect(to: endpoints)
      let spectator = try await Shown("Zoe", isSpectator: true, on: loop)
      let waiting = try await spectator.view { _ in true }
      #expect(waiting.hint == "q quit")
      _ = try await spectator.node.connect(to: endpoints)
      let watching = try await spectator.view { $0.left.name == "Maya" && $0.right.name == "Leo" }
      #expect(watching.hint == "q quit")
      for shown in [spectator, client, host] { await shown.end() }
    }
  }
}
