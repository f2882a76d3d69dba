import Carom
import Testing

@testable import air_hockey

@Suite(.turns) struct SilentHostTests {
  @Test func `a host that grants a seat and shows no table is left again`() async throws {
    try await withSilentHost { guest, endpoints in
      let game = NetGame(makeSetup(reopens: false), node: guest)
      await guest.setHandler(owner: game) { game, event in game.handle(event) }
      _ = try await guest.connect(to: endpoints)
      #expect(await game.finish().endReason == "timedOut")
    }
  }

  @Test func `whoever looks for a player looks on after such a host, though it has a time`()
    async throws
  {
    try await withSilentHost { guest, endpoints in
      let (freed, announce) = AsyncStream.makeStream(of: Void.self)
      let game = NetGame(makeSetup(reopens: true), node: guest, seatFreed: { announce.yield() })
      await guest.setHandler(owner: game) { game, event in game.handle(event) }
      _ = try await guest.connect(to: endpoints)
      var waiting = freed.makeAsyncIterator()
      #expect(await waiting.next() != nil)
      await game.abandon()
      #expect(await game.wasAbandoned)
    }
  }

  private func makeSetup(reopens: Bool) -> NetGame.Setup {
    var setup = NetGame.Setup(name: "guest", bot: true, strength: .easy)
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
      let usher = Usher(on: loop, host)
      await host.setHandler(owner: usher) { usher, event in usher.handle(event) }
      let port = try await host.listen(on: [.loopback4])
      let guest = SessionNode(makePeer("guest"), seats: 0, on: loop)
      try await body(guest, [Endpoint(.loopback4, port: port)])
      await guest.shutdown()
      await host.shutdown()
    }
  }

  private func makePeer(_ name: String) -> PeerInfo {
    var generator = SystemRandomNumberGenerator()
    return PeerInfo(id: .random(using: &generator), name: name, application: "test")
  }
}

/// Grants seats and says no more.
private actor Usher: LoopActor {
  nonisolated let loop: NetworkLoop
  private let node: SessionNode

  init(on loop: NetworkLoop, _ node: SessionNode) {
    self.loop = loop
    self.node = node
  }

  func handle(_ event: SessionEvent) {
    if case .requested(let link, _, _) = event { node.assumeIsolated { $0.admit(link) } }
  }
}
