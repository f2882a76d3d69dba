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
    var generator = SystemRandomNumberGenerator()
    let (host, client) = (Identity(using: &generator), Identity(using: &generator))
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
