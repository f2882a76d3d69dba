import Carom
import Testing

@testable import air_hockey

@Suite(.turns) struct SilentHostTests {
  @Test func `a client leaves a host that admits it and sends no state`() async throws {
    try await withSilentHost { client, endpoints in
      let game = NetGame(makeSetup(reopens: false), node: client)
      await client.setHandler(owner: game) { game, event in game.handle(event) }
      _ = try await client.connect(to: endpoints)
      #expect(await game.finish().endReason == "timedOut")
    }
  }

  @Test func `a player who searches continues after such a host, even with a time limit`()
    async throws
  {
    try await withSilentHost { client, endpoints in
      let (freed, announce) = AsyncStream.makeStream(of: Void.self)
      let game = NetGame(makeSetup(reopens: true), node: client, seatFreed: { announce.yield() })
      await client.setHandler(owner: game) { game, event in game.handle(event) }
      _ = try await client.connect(to: endpoints)
      var waiting = freed.makeAsyncIterator()
      #expect(await waiting.next() != nil)
      await game.abandon()
      #expect(await game.wasAbandoned)
    }
  }

  private func makeSetup(reopens: Bool) -> NetGame.Setup {
    var setup = NetGame.Setup(name: "client", bot: true, strength: .easy)
    setup.reopens = reopens
    setup.tickLimit = 60
    setup.firstStateLimit = .milliseconds(50)
    return setup
  }

  private func withSilentHost(
    _ body: (SessionNode, [Endpoint]) async throws -> Void
  ) async throws {
    try await withNetworkLoop { loop in
      let host = SessionNode(makePeer("host"), seats: 1, on: loop)
      let admission = Admission(on: loop, host)
      await host.setHandler(owner: admission) { admission, event in admission.handle(event) }
      let port = try await host.listen(on: [.loopback4])
      let client = SessionNode(makePeer("client"), seats: 0, on: loop)
      try await body(client, [Endpoint(.loopback4, port: port)])
      await client.shutdown()
      await host.shutdown()
    }
  }

  private func makePeer(_ name: String) -> PeerInfo {
    PeerInfo(id: .random(), name: name, application: "test")
  }
}

/// Admits all clients and sends them nothing.
private actor Admission: LoopActor {
  nonisolated let loop: NetworkLoop
  private let node: SessionNode

  init(on loop: NetworkLoop, _ node: SessionNode) {
    self.loop = loop
    self.node = node
  }

  func handle(_ event: SessionEvent) {
    if case .requested(let connection, _, _) = event {
      node.assumeIsolated { $0.admit(connection) }
    }
  }
}
