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
    let info: PeerInfo
    let views: AsyncStream<TableView>

    init(
      _ name: String, isSpectator: Bool = false, clients: Int = 1, on loop: NetworkLoop
    ) async throws {
      info = PeerInfo(
        id: .random(), name: name, application: GameWire.application, isSpectator: isSpectator)
      var setup = NetGame.Setup(name: name, bot: true, strength: .easy)
      setup.isSpectator = isSpectator
      setup.clients = clients
      game = NetGame(setup, on: loop)
      let (views, continuation) = AsyncStream.makeStream(
        of: TableView.self, bufferingPolicy: .bufferingNewest(1))
      self.views = views
      try await game.begin { ViewDisplay(views: continuation) }
    }

    /// Hosts a match, and runs `body` with the endpoint of the host.
    func host(_ body: @Sendable (Endpoint) async throws -> Void) async throws {
      let game = game
      try await Session.host(
        as: info, on: [.loopback4], seats: game.setup.clients, spectatorSeats: 1, loop: game.loop
      ) { session, port in
        async let playing: Void = game.play(over: session, isHost: true)
        try await body(Endpoint(.loopback4, port: port))
        await game.end("over")
        await playing
      }
    }

    /// Joins the match of a host until the game ends.
    func join(_ endpoint: Endpoint) async throws {
      let game = game
      try await Session.join([endpoint], as: info, loop: game.loop) { session, _ in
        await game.play(over: session)
      }
    }

    /// Waits for a view for which `isWanted` returns true.
    func view(where isWanted: (TableView) -> Bool) async throws -> TableView {
      for await view in views where isWanted(view) { return view }
      throw CancellationError()
    }
  }

  @Test func `after the other side has gone, the waiting screen says who has left`() async throws {
    try await withNetworkLoop { loop in
      let host = try await Shown("Maya", on: loop)
      let client = try await Shown("Leo", on: loop)
      let first = try await host.view { _ in true }
      #expect(first.banner?.detail == "waiting for a player")
      try await host.host { endpoint in
        async let joining: Void = client.join(endpoint)
        _ = try await host.view { $0.banner == nil }
        await client.game.end("over")
        try await joining
        let waiting = try await host.view { $0.banner?.title == "Waiting" }
        #expect(waiting.banner?.detail == "waiting for a player · Leo is gone (left)")
      }
    }
  }

  @Test func `a spectator sees the names of both players, and no keys that move a mallet`()
    async throws
  {
    try await withNetworkLoop { loop in
      let host = try await Shown("Maya", on: loop)
      let client = try await Shown("Leo", on: loop)
      let spectator = try await Shown("Zoe", isSpectator: true, on: loop)
      let waiting = try await spectator.view { _ in true }
      #expect(waiting.hint == "q quit")
      try await host.host { endpoint in
        async let playing: Void = client.join(endpoint)
        async let seeing: Void = spectator.join(endpoint)
        let watching = try await spectator.view {
          $0.left.name == "Maya" && $0.right.name == "Leo"
        }
        #expect(watching.hint == "q quit")
        for shown in [spectator, client] { await shown.game.end("over") }
        _ = try await (playing, seeing)
      }
    }
  }

  @Test func `two clients of a host see each other's names and themselves on the left`()
    async throws
  {
    try await withNetworkLoop { loop in
      let host = try await Shown("Maya", clients: 2, on: loop)
      let clients = [try await Shown("Leo", on: loop), try await Shown("Zoe", on: loop)]
      try await host.host { endpoint in
        async let first: Void = clients[0].join(endpoint)
        _ = try await clients[0].view { $0.left.name == "Leo" && $0.right.name == "Computer" }
        async let second: Void = clients[1].join(endpoint)
        _ = try await clients[0].view { $0.left.name == "Leo" && $0.right.name == "Zoe" }
        _ = try await clients[1].view { $0.left.name == "Zoe" && $0.right.name == "Leo" }
        let table = try await host.view { $0.left.name == "Leo" && $0.right.name == "Zoe" }
        #expect(table.hint == "q quit")
        await clients[0].game.end("over")
        try await first
        _ = try await host.view { $0.left.name == "nobody" && $0.right.name == "Zoe" }
        await clients[1].game.end("over")
        try await second
        let waiting = try await host.view { $0.banner?.title == "Waiting" }
        #expect(waiting.banner?.detail.contains("Zoe is gone (left)") == true)
      }
    }
  }
}
