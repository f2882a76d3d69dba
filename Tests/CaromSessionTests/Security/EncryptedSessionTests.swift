import CaromCore
import CaromCrypto
import CaromProtocol
import CaromSession
import CaromTransport
import Testing

/// Encrypted sessions on real sockets.
@Suite struct EncryptedSessionTests {
  @Test(arguments: [LinkKinds.all, .datagram, .stream], [1, 3])
  func `an encrypted session carries messages, and each side proves its id`(
    kinds: LinkKinds, loops: Int
  ) async throws {
    let (host, client) = (Identity.random(), Identity.random())
    try await Session.host(
      as: makePeer("host"), on: [.loopback4], over: kinds, security: .anyone(as: host),
      loops: loops, admit: { $0.id == client.id ? .accept : .decline("somebody else") }
    ) { session, port in
      async let answered: Void = {
        var count = 0
        for await received in session.messages(on: .notes) {
          try await received.peer.send(received.message, on: .notes)
          count += 1
          if count == 3 { break }
        }
      }()
      try await withNetworkLoop { loop in
        try await Session.join(
          [Endpoint(.loopback4, port: port)], as: makePeer("client"), over: kinds,
          security: .anyone(as: client), loop: loop
        ) { session, peer in
          #expect(peer.info.id == host.id)
          var notes = session.messages(on: .notes).makeAsyncIterator()
          for length in [1, 1_000, 100_000] {
            try await peer.send(Note([UInt8](repeating: 7, count: length)), on: .notes)
            let answer = await notes.next()
            #expect(answer?.message.text.count == length)
          }
        }
      }
      for await event in session.events {
        if case .left(let peer, let reason) = event {
          #expect(peer.info.id == client.id && reason == .finished)
          break
        }
      }
      try await answered
    }
  }

  @Test(arguments: [LinkKinds.all, .datagram, .stream], [1, 3])
  func `those who know the code join, and others are told that theirs is wrong`(
    kinds: LinkKinds, loops: Int
  ) async throws {
    let (code, other) = (try JoinCode("K7QM-2XRT"), try JoinCode("K7QM-2XRV"))
    try await Session.host(
      as: makePeer("host"), on: [.loopback4], over: kinds, security: .code(code), loops: loops
    ) { session, port in
      var events = session.events.makeAsyncIterator()
      try await withNetworkLoop { loop in
        let endpoint = Endpoint(.loopback4, port: port)
        _ = await #expect(throws: SessionError.refused(.wrongCode)) {
          try await Session.join(
            [endpoint], as: makePeer("client"), over: kinds, security: .code(other), loop: loop
          ) { _, _ in }
        }
        guard case .wrongCode(let failure)? = await events.next() else {
          Issue.record("the wrong code was not reported")
          return
        }
        #expect(failure.count == 1 && failure.waitsUntil == nil)
        try await Session.join(
          [endpoint], as: makePeer("client"), over: kinds, security: .code(code), loop: loop
        ) { session, peer in
          let security = await peer.security
          let cipher = Cipher.aesGCM.isAvailable ? LinkProtection.Encryption.aesGCM : .chaChaPoly
          #expect(security?.protection.handshake == .xxpsk3)
          #expect(security?.protection.encryption == cipher)
          #expect(security?.publicKey.map { PeerID(of: $0) } == peer.id)
          #expect(security?.protection.policy == .code)
          let words = try #require(security?.fingerprint)
          #expect(security.map { "\($0)" } == "code, XXpsk3, \(cipher.rawValue), \(words)")
          #expect("\(peer.protection)" == "code, XXpsk3, \(cipher.rawValue)")
          #expect(await peer.statistics?.protection == peer.protection)
        }
      }
      guard case .joined(let peer)? = await events.next() else {
        Issue.record("nobody has joined")
        return
      }
      #expect("\(PeerEvent.joined(peer))" == "\(peer) joined (\(peer.protection))")
      #expect(peer.protection.policy == .code && peer.protection.handshake == .xxpsk3)
      #expect(peer.name == "client")
    }
  }

  @Test(arguments: [LinkKinds.all, .datagram, .stream], [1, 3])
  func `a client that knows the host's key begins with it, whichever loop answers`(
    kinds: LinkKinds, loops: Int
  ) async throws {
    let (host, other) = (Identity.random(), Identity.random())
    try await Session.host(
      as: makePeer("host"), on: [.loopback4], over: kinds, seats: 8, security: .anyone(as: host),
      loops: loops
    ) { _, port in
      try await withNetworkLoop { loop in
        let cases = [(host.publicKey, LinkProtection.Handshake.ik), (other.publicKey, .xx)]
        for (key, handshake) in cases {
          for _ in 0..<3 {
            try await Session.join(
              [Endpoint(.loopback4, port: port)], as: makePeer("client"), over: kinds,
              security: .anyone, hostKey: key, loop: loop
            ) { _, peer in
              #expect(await peer.security?.protection.handshake == handshake)
              #expect(peer.protection.handshake == handshake)
              #expect(peer.id == host.id)
            }
          }
        }
      }
    }
  }

  @Test func `a description of the security shows its policy, and nothing of the code`() throws {
    let security = SessionSecurity.code(try JoinCode("K7QM-2XRT"))
    var dumped = ""
    dump(security, to: &dumped)
    for text in ["\(security)", String(reflecting: security), dumped] {
      #expect(text.contains("code") && !text.contains("K7QM") && !text.contains("2XRT"))
    }
  }

  @Test func `a session with known peers refuses others`() async throws {
    let (host, client) = (Identity.random(), Identity.random())
    var peers = KnownPeers()
    try peers.insert("Maya", client.publicKey)
    try await withNetworkLoop { [peers] loop in
      try await Session.host(
        as: makePeer("host"), on: [.loopback4], security: .known(peers, as: host), loop: loop
      ) { _, port in
        let endpoint = Endpoint(.loopback4, port: port)
        _ = await #expect(throws: SessionError.refused(.untrusted(""))) {
          try await Session.join(
            [endpoint], as: makePeer("stranger"), security: .anyone, loop: loop
          ) { _, _ in }
        }
        try await Session.join(
          [endpoint], as: makePeer("client"), security: .anyone(as: client), loop: loop
        ) { _, peer in #expect(peer.id == host.id) }
      }
    }
  }

  @Test(arguments: [LinkKinds.all, .datagram, .stream], [true, false])
  func `a session refuses a peer that differs in encryption`(
    kinds: LinkKinds, hostEncrypts: Bool
  ) async throws {
    try await withNetworkLoop { loop in
      try await Session.host(
        as: makePeer("host"), on: [.loopback4], over: kinds,
        security: hostEncrypts ? .anyone : .none, loop: loop
      ) { _, port in
        _ = await #expect(throws: SessionError.refused(.securityMismatch)) {
          try await Session.join(
            [Endpoint(.loopback4, port: port)], as: makePeer("client"), over: kinds,
            security: hostEncrypts ? .none : .anyone, loop: loop
          ) { _, _ in }
        }
      }
    }
  }
}
