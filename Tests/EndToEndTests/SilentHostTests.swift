import Carom
import Testing

@testable import air_hockey

@Suite(.turns) struct SilentHostTests {
  @Test func `a client leaves a host that admits it and sends no state`() async throws {
    try await withSilentHost { session in
      let game = NetGame(makeSetup(reopens: false), on: session.loop)
      try await game.begin { NoDisplay() }
      await game.play(over: session)
      #expect(await game.finish().endReason == "timedOut")
    }
  }

  @Test func `a player who searches continues after such a host, even with a time limit`()
    async throws
  {
    try await withSilentHost { session in
      let (freed, announce) = AsyncStream.makeStream(of: Void.self)
      let game = NetGame(makeSetup(reopens: true), on: session.loop)
      try await game.begin { NoDisplay() }
      async let playing: Void = game.play(over: session) { free in
        if free > 0 { announce.yield() }
      }
      var waiting = freed.makeAsyncIterator()
      #expect(await waiting.next() != nil)
      await game.abandon()
      #expect(await game.wasAbandoned)
      await playing
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
    _ body: (Session) async throws -> Void
  ) async throws {
    try await withNetworkLoop { loop in
      try await Session.host(as: makePeer("host"), on: [.loopback4], loop: loop) { _, port in
        let endpoints = [Endpoint(.loopback4, port: port)]
        try await Session.join(endpoints, as: makePeer("client"), loop: loop) { session, _ in
          try await body(session)
        }
      }
    }
  }

  private func makePeer(_ name: String) -> PeerInfo {
    PeerInfo(id: .random(), name: name, application: "test")
  }
}
