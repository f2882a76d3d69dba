import CaromCore
import CaromCrypto
import CaromProtocol
import CaromSession
import CaromTransport
import TestRelay
import Testing

/// Sessions through a stand-in for a UDP proxy that finds hosts by routing bytes.
@Suite(.timeLimit(.minutes(1))) struct RoutingSessionTests {
  private static let tokens: [[UInt8]] = [
    [0xA0, 1, 2, 3, 4, 5, 6, 7], [0xB0, 1, 2, 3, 4, 5, 6, 7],
  ]

  /// What a proxy does with the bytes.
  enum Treatment: CaseIterable {
    case removes, keeps, keepsAndAdds, removesAndAdds

    var keeps: Bool { self == .keeps || self == .keepsAndAdds }
    var adds: Bool { self == .keepsAndAdds || self == .removesAndAdds }
  }

  private static func routing(
    _ position: DatagramRouting.Position, _ token: [UInt8]
  ) throws -> DatagramRouting {
    position == .prefix ? try .prefix(token) : try .suffix(token)
  }

  /// Joins through a proxy, and sends a long note there and back.
  private static func play(
    at front: Endpoint, _ routing: SessionRouting, security: SessionSecurity = .anyone,
    on loop: NetworkLoop
  ) async throws -> String {
    try await Session.join(
      [front], as: makePeer("client"), over: .datagram, security: security, routing: routing,
      loop: loop
    ) { session, host in
      let note = Note([UInt8](repeating: 7, count: 200_000))
      try await host.send(note, on: .notes)
      var answers = session.messages(on: .notes).makeAsyncIterator()
      #expect(await answers.next()?.message == note)
      return host.name
    }
  }

  private static func host(
    _ name: String, _ routing: SessionRouting, security: SessionSecurity = .anyone,
    loops: Int = 1, _ body: (UInt16) async throws -> Void
  ) async throws {
    try await Session.host(
      as: makePeer(name), on: [.loopback4], seats: 4, security: security, routing: routing,
      loops: loops
    ) { session, port in
      async let _: Void = {
        for await note in session.messages(on: .notes) {
          try? await note.peer.send(note.message, on: .notes)
        }
      }()
      try await body(port)
    }
  }

  @Test(arguments: [DatagramRouting.Position.prefix, .suffix], Treatment.allCases)
  func `players reach the host that their bytes name, and neighbours come without any`(
    position: DatagramRouting.Position, treatment: Treatment
  ) async throws {
    try await withNetworkLoop { loop in
      let proxy = RoutingProxy(
        position, keepsBytes: treatment.keeps, addsBytes: treatment.adds, on: loop)
      let front = try await proxy.open()
      let routing = try Self.tokens.map { try Self.routing(position, $0) }
      func received(_ index: Int) -> SessionRouting {
        SessionRouting(received: treatment.keeps ? routing[index] : nil)
      }
      try await Self.host("A", received(0)) { first in
        try await Self.host("B", received(1), loops: 3) { second in
          await proxy.add(Self.tokens[0], to: Endpoint(.loopback4, port: first))
          await proxy.add(Self.tokens[1], to: Endpoint(.loopback4, port: second))
          for (index, name) in ["A", "B"].enumerated() {
            let both = SessionRouting.bothWays(routing[index])
            let found = try await Self.play(at: front, both, on: loop)
            #expect(found == name)
          }
          let near = Endpoint(.loopback4, port: first)
          let found = try await Self.play(at: near, SessionRouting(), on: loop)
          #expect(found == "A")
          #expect(await proxy.ports == 2)
          let (longest, atHosts) = (await proxy.longest, await proxy.longestToServer)
          #expect(longest <= 1_472 && atHosts == (treatment.keeps ? longest : longest - 8))
        }
      }
      await proxy.close()
    }
  }

  @Test func `plaintext sessions carry the bytes too, and a host can send some`() async throws {
    try await withNetworkLoop { loop in
      let proxy = RoutingProxy(.suffix, on: loop)
      let (there, back) = (
        try Self.routing(.suffix, Self.tokens[0]), try Self.routing(.prefix, [9])
      )
      try await Self.host("A", SessionRouting(sent: back), security: .none) { port in
        await proxy.add(Self.tokens[0], to: Endpoint(.loopback4, port: port))
        let routing = SessionRouting(sent: there, received: back)
        let found = try await Self.play(
          at: proxy.open(), routing, security: .none, on: loop)
        #expect(found == "A")
      }
      await proxy.close()
    }
  }

  @Test(arguments: [SessionSecurity.anyone, .none])
  func `a session goes on when the proxy sends from other ports`(
    security: SessionSecurity
  ) async throws {
    try await withNetworkLoop { loop in
      let proxy = RoutingProxy(.suffix, on: loop)
      let front = try await proxy.open()
      try await Self.host("A", SessionRouting(), security: security, loops: 2) { port in
        await proxy.add(Self.tokens[0], to: Endpoint(.loopback4, port: port))
        try await Session.join(
          [front], as: makePeer("client"), over: .datagram, security: security,
          routing: .bothWays(try Self.routing(.suffix, Self.tokens[0])), loop: loop
        ) { session, host in
          var answers = session.messages(on: .notes).makeAsyncIterator()
          for round in UInt8(0)..<8 {
            if round > 0 { await proxy.changePorts() }
            try await host.send(Note([round]), on: .notes)
            #expect(await answers.next()?.message == Note([round]))
          }
          #expect(await session.peers == [host])
        }
        #expect(await proxy.ports >= 8)
      }
      await proxy.close()
    }
  }

  @Test func `without the bytes that the proxy knows, joining ends with its time`() async throws {
    try await withNetworkLoop { loop in
      let proxy = RoutingProxy(.suffix, on: loop)
      let front = try await proxy.open()
      try await Self.host("A", SessionRouting()) { port in
        await proxy.add(Self.tokens[0], to: Endpoint(.loopback4, port: port))
        var timing = SessionTiming()
        timing.handshakeLimit = .milliseconds(300)
        let wrong = try [nil, Self.routing(.suffix, Self.tokens[1]), .prefix(Self.tokens[0])]
        for routing in wrong {
          await #expect(throws: SessionError.refused(.handshakeTimeout)) {
            try await Session.join(
              [front], as: makePeer("client"), over: .datagram, timing: timing,
              routing: SessionRouting(sent: routing), loop: loop
            ) { _, _ in }
          }
        }
        #expect(await proxy.ports == 0)
        #expect(await proxy.dropped >= 3)
      }
      await proxy.close()
    }
  }

  @Test func `the routing of a connect token is used by itself`() async throws {
    let (key, player) = (BackendKey.random(), PeerID(high: 1, low: 2))
    let security = SessionSecurity.token(keys: [key], start: UnixTime(milliseconds: 0))
    try await withNetworkLoop { loop in
      let proxy = RoutingProxy(.prefix, on: loop)
      let front = try await proxy.open()
      try await Session.host(
        as: makePeer("A"), on: [.loopback4], security: security, loop: loop
      ) { session, port in
        await proxy.add(Self.tokens[0], to: Endpoint(.loopback4, port: port))
        var generator = SystemGenerator()
        let token = try ConnectToken(
          for: [front], routing: .prefix(Self.tokens[0]), player: player, lifetime: .seconds(60),
          key: key, at: .now, using: &generator)
        var info = makePeer("client")
        info.id = player
        let name = try await Session.join(
          token.hosts, as: info, security: .token(token), loop: loop
        ) { _, host in host.name }
        #expect(name == "A")
      }
      await proxy.close()
    }
  }
}
