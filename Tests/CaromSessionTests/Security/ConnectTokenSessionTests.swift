import CaromCore
import CaromCrypto
import CaromProtocol
import CaromSession
import CaromTransport
import Testing

/// Sessions with connect tokens on real sockets.
@Suite struct ConnectTokenSessionTests {
  private let key = BackendKey.random()
  private let player = PeerID(high: 1, low: 2)

  /// Makes a token as the backend does.
  private func makeToken(_ port: UInt16, data: [UInt8] = []) throws -> ConnectToken {
    var generator = SystemGenerator()
    return try ConnectToken(
      for: [Endpoint(.loopback4, port: port)], player: player, lifetime: .seconds(60), data: data,
      key: key, at: .now, using: &generator)
  }

  private func makeClient() -> PeerInfo {
    var info = makePeer("client")
    info.id = player
    return info
  }

  @Test(arguments: [LinkKinds.all, .datagram, .stream], [1, 3])
  func `a token lets its player in once, and the host learns the backend's data`(
    kinds: LinkKinds, loops: Int
  ) async throws {
    let security = SessionSecurity.token(keys: [key], start: UnixTime(milliseconds: 0))
    try await Session.host(
      as: makePeer("host"), on: [.loopback4], over: kinds, security: security, loops: loops,
      admit: { $0.backendData == [7, 8] ? .accept : .decline("no level") }
    ) { session, port in
      let token = try makeToken(port, data: [7, 8])
      try await withNetworkLoop { loop in
        try await Session.join(
          token.hosts, as: makeClient(), over: kinds, security: .token(token), loop: loop
        ) { client, host in
          let security = await host.security
          #expect(security?.protection.handshake == .nnpsk0)
          #expect(security?.publicKey == nil && security?.token == nil)
          var events = session.events.makeAsyncIterator()
          guard case .joined(let peer)? = await events.next() else {
            Issue.record("nobody has joined")
            return
          }
          #expect(peer.id == player && peer.info.backendData == [7, 8])
          #expect(await peer.security?.token?.data == [7, 8])
          #expect(await peer.security?.token?.player == player)
          try await host.send(Note([1, 2, 3]), on: .notes)
          var notes = session.messages(on: .notes).makeAsyncIterator()
          let note = await notes.next()
          #expect(note?.message.text == [1, 2, 3])
          _ = await #expect(throws: SessionError.refused(.tokenRefused(.used))) {
            try await Session.join(
              token.hosts, as: makeClient(), over: kinds, security: .token(token), loop: loop
            ) { _, _ in }
          }
        }
        _ = await #expect(throws: SessionError.refused(.tokenRefused(.used))) {
          try await Session.join(
            token.hosts, as: makeClient(), over: kinds, security: .token(token), loop: loop
          ) { _, _ in }
        }
        let other = try makeToken(port, data: [9])
        _ = await #expect(throws: SessionError.refused(.declined("no level"))) {
          try await Session.join(
            other.hosts, as: makeClient(), over: kinds, security: .token(other), loop: loop
          ) { _, _ in }
        }
      }
    }
  }

  @Test func `a host refuses tokens that were made before it was created, or for other hosts`()
    async throws
  {
    let early = try makeToken(9)
    try await withNetworkLoop { loop in
      try await Session.host(
        as: makePeer("host"), on: [.loopback4], security: .token(keys: [key]), loop: loop
      ) { _, port in
        let endpoint = Endpoint(.loopback4, port: port)
        _ = await #expect(throws: SessionError.refused(.tokenRefused(.madeBeforeStart))) {
          try await Session.join(
            [endpoint], as: makeClient(), security: .token(early), loop: loop
          ) { _, _ in }
        }
      }
      let hosts: Set<Endpoint> = [Endpoint(.loopback4, port: 9)]
      let start = UnixTime(milliseconds: 0)
      try await Session.host(
        as: makePeer("host"), on: [.loopback4],
        security: .token(keys: [key], hosts: hosts, start: start), loop: loop
      ) { _, port in
        let (named, other) = (try makeToken(9), try makeToken(port))
        let endpoint = Endpoint(.loopback4, port: port)
        _ = await #expect(throws: SessionError.refused(.tokenRefused(.otherHost))) {
          try await Session.join(
            [endpoint], as: makeClient(), security: .token(other), loop: loop
          ) { _, _ in }
        }
        try await Session.join(
          [endpoint], as: makeClient(), security: .token(named), loop: loop
        ) { _, host in #expect(host.name == "host") }
      }
    }
  }

  @Test func `no description of a session with tokens shows a secret`() throws {
    let token = try makeToken(9)
    let secrets =
      [token.text]
      + [key.hexadecimal.reveal(), token.key.reveal()].map {
        String(decoding: $0, as: UTF8.self)
      }
    for security in [SessionSecurity.token(token), .token(keys: [key])] {
      var dumped = ""
      dump(security, to: &dumped)
      for text in ["\(security)", String(reflecting: security), dumped] {
        #expect(text.contains("token") && !secrets.contains { text.contains($0) })
      }
    }
  }
}
