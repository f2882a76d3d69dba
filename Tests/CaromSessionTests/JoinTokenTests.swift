import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Testing

@Suite struct JoinTokenTests {
  /// Joins, waits for an echo and, over datagrams, for a join token, and returns the token.
  private func visit(
    _ endpoints: [Endpoint], over kinds: LinkKinds, token: JoinToken?, _ loop: NetworkLoop
  ) async throws -> JoinToken? {
    try await Session.join(
      endpoints, as: makePeer("client"), over: kinds, token: token, loop: loop
    ) { session, host in
      #expect(await session.node.joinTokens.allSatisfy { $0 != token })
      var notes = session.messages(on: .notes).makeAsyncIterator()
      var newest: JoinToken?
      while newest == nil, kinds.contains(.datagram) {
        try await host.send(Note([1]), on: .notes)
        #expect(await notes.next()?.message == Note([1]))
        newest = await session.joinToken
      }
      return newest
    }
  }

  @Test(arguments: [LinkKinds.datagram, .all])
  func `each session gives its client a token for the next one`(kinds: LinkKinds) async throws {
    try await withNetworkLoop(name: "client") { loop in
      try await Session.host(
        as: makePeer("host"), on: [.loopback4], over: kinds, seats: 2, loops: 3
      ) { hosting, port in
        let endpoints = [Endpoint(.loopback4, port: port)]
        let echoes = Task {
          for await note in hosting.messages(on: .notes) {
            try await note.peer.send(note.message, on: .notes)
          }
        }
        var tokens: Set<JoinToken> = []
        var token: JoinToken?
        for _ in 0..<6 {
          token = try await visit(endpoints, over: kinds, token: token, loop)
          let given = try #require(token)
          #expect(given.host == endpoints[0] && JoinToken(given.bytes, of: given.host) == given)
          tokens.insert(given)
        }
        #expect(tokens.count == 6)
        _ = try await visit(endpoints, over: kinds, token: tokens.first, loop)
        echoes.cancel()
      }
    }
  }
}
