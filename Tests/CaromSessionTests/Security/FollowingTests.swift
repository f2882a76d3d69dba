import CaromCore
import CaromCrypto
import CaromProtocol
import CaromTransport
import Testing

@testable import CaromSession

/// Session.follow on real sockets: a host sends its player to another host (page Sessions, Follow a
/// match to another host).
@Suite(.timeLimit(.minutes(1))) struct FollowingTests {
  private let key = BackendKey.random()
  private let player = makePeer("player")

  private func makeToken(for endpoint: Endpoint) throws -> ConnectToken {
    var generator = SystemGenerator()
    return try ConnectToken(
      for: [endpoint], player: player.id, lifetime: .seconds(60), key: key, at: .now,
      using: &generator)
  }

  /// Runs `body` with two hosts.
  private func withHosts(
    over kinds: LinkKinds = .all, security: SessionSecurity,
    _ body: (NetworkLoop, [(session: Session, endpoint: Endpoint)]) async throws -> Void
  ) async throws {
    try await withNetworkLoop { loop in
      try await Session.host(
        as: makePeer("old"), on: [.loopback4], over: kinds, security: security, loop: loop
      ) { old, oldPort in
        try await Session.host(
          as: makePeer("new"), on: [.loopback4], over: kinds, security: security, loop: loop
        ) { new, newPort in
          try await body(
            loop,
            [
              (old, Endpoint(.loopback4, port: oldPort)),
              (new, Endpoint(.loopback4, port: newPort)),
            ])
        }
      }
    }
  }

  /// Sends the player away, and returns where to, as the player is told.
  private func move(
    _ peer: Peer, to next: NextHost, telling session: Session
  ) async throws -> NextHost {
    await peer.close(Goodbye(movedTo: next))
    let reason = await session.ending()
    guard case .moved(let told)? = reason else {
      throw SessionError.refused(reason ?? .closedLocally)
    }
    return told
  }

  @Test(arguments: [LinkKinds.all, .datagram, .stream])
  func `a player with a token follows with the token of the next host, and keeps its id`(
    kinds: LinkKinds
  ) async throws {
    let security = SessionSecurity.token(keys: [key], start: UnixTime(milliseconds: 0))
    try await withHosts(over: kinds, security: security) { loop, hosts in
      let token = try makeToken(for: hosts[0].endpoint)
      try await Session.join(
        token.hosts, as: player, over: kinds, security: .token(token), loop: loop
      ) { session, _ in
        let peer = await hosts[0].session.joined()
        // What was sent before the goodbye arrives before it.
        try await peer.send(Note([1, 2, 3]), on: .notes)
        let next = NextHost(
          at: [hosts[1].endpoint], token: try makeToken(for: hosts[1].endpoint))
        let told = try await move(peer, to: next, telling: session)
        #expect(told == next)
        var notes = session.messages(on: .notes).makeAsyncIterator()
        let note = await notes.next()
        #expect(note?.message.text == [1, 2, 3])
        try await session.follow(to: told) { session, host in
          #expect(host.name == "new")
          let again = await hosts[1].session.joined()
          #expect(again.id == player.id && again.name == "player")
          try await host.send(Note([4]), on: .notes)
          var notes = hosts[1].session.messages(on: .notes).makeAsyncIterator()
          let note = await notes.next()
          #expect(note?.message.text == [4] && note?.peer == again)
        }
        // The token of the first host is used up.
        _ = await #expect(throws: SessionError.refused(.tokenRefused(.used))) {
          try await session.follow(to: NextHost(at: [hosts[1].endpoint])) { _, _ in }
        }
      }
    }
  }

  @Test func `a player with an identity of its session follows with the same identity`()
    async throws
  {
    try await withHosts(security: .anyone) { loop, hosts in
      try await Session.join([hosts[0].endpoint], as: player, loop: loop) { session, _ in
        let peer = await hosts[0].session.joined()
        let told = try await move(
          peer, to: NextHost(at: [hosts[1].endpoint]), telling: session)
        try await session.follow(to: told) { session, _ in
          let again = await hosts[1].session.joined()
          #expect(again.id == peer.id)
          // And back: a client that has followed can follow again.
          let back = try await move(
            again, to: NextHost(at: [hosts[0].endpoint]), telling: session)
          try await session.follow(to: back) { _, host in
            #expect(host.name == "old")
            #expect(await hosts[0].session.joined().id == peer.id)
          }
        }
      }
    }
  }

  @Test func `a player in plaintext is sent no token, and follows`() async throws {
    try await withHosts(security: .none) { loop, hosts in
      try await Session.join(
        [hosts[0].endpoint], as: player, security: .none, loop: loop
      ) { session, _ in
        let peer = await hosts[0].session.joined()
        let token = try makeToken(for: hosts[1].endpoint)
        let told = try await move(
          peer, to: NextHost(at: [hosts[1].endpoint], token: token), telling: session)
        #expect(told == NextHost(at: [hosts[1].endpoint]))
        try await session.follow(to: told) { _, _ in
          #expect(await hosts[1].session.joined().id == player.id)
        }
      }
    }
  }

  @Test func `nobody follows to a host that has no endpoint, or as a host`() async throws {
    try await withHosts(security: .anyone) { loop, hosts in
      let nowhere = SessionError.refused(.moved(to: NextHost()))
      try await Session.join([hosts[0].endpoint], as: player, loop: loop) { session, _ in
        let peer = await hosts[0].session.joined()
        let told = try await move(peer, to: NextHost(), telling: session)
        await #expect(throws: nowhere) { try await session.follow(to: told) { _, _ in } }
      }
      let next = NextHost(at: [hosts[1].endpoint])
      await #expect(throws: SessionError.refused(.moved(to: next))) {
        try await hosts[0].session.follow(to: next) { _, _ in }
      }
    }
  }

  @Test func `bytes that are not a token are not used`() async throws {
    try await withHosts(security: .anyone) { loop, hosts in
      try await Session.join([hosts[0].endpoint], as: player, loop: loop) { session, _ in
        let peer = await hosts[0].session.joined()
        var writer = PacketWriter()
        NextHost(at: [hosts[1].endpoint]).encode(into: &writer)
        let bytes = Array(writer.bytes.dropLast()) + [1, 7]
        var reader = PacketReader(bytes.span)
        let broken = try NextHost(decoding: &reader)
        let told = try await move(peer, to: broken, telling: session)
        #expect(told.hasToken && told.token == nil)
        await #expect(throws: SessionError.refused(.protocolViolation)) {
          try await session.follow(to: told) { _, _ in }
        }
      }
    }
  }
}
