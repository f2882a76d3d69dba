import CaromCore
import CaromProtocol
import CaromTransport
import Testing

@testable import CaromSession

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

  /// Runs `body` with a node and a token of each of `count` hosts.
  private func withNode(
    storing count: Int, _ body: (SessionNode, [JoinToken]) async throws -> Void
  ) async throws {
    try await withNetworkLoop { loop in
      let node = SessionNode(makePeer("client"), seats: 0, on: loop)
      let tokens = try (1...count).map { number in
        let bytes = [UInt8](repeating: UInt8(number), count: 24)
        return try #require(JoinToken(bytes, of: Endpoint(.loopback4, port: UInt16(number))))
      }
      for token in tokens { await node.store(token) }
      try await body(node, tokens)
    }
  }

  @Test func `a stored token is used only once, and only for its host`() async throws {
    try await withNode(storing: 2) { node, tokens in
      #expect(await node.takeToken(of: [tokens[0].host]) == tokens[0])
      #expect(await node.takeToken(of: [tokens[0].host]) == nil)
      #expect(await node.joinTokens == [tokens[1]])
    }
  }

  @Test func `a node stores 16 tokens, and drops the oldest when one more arrives`() async throws {
    try await withNode(storing: 16) { node, tokens in
      #expect(await node.joinTokens == tokens)
    }
    try await withNode(storing: 17) { node, tokens in
      #expect(await node.joinTokens == Array(tokens[1...]))
    }
  }

  @Test func `a newer token replaces the one of its host, and the newest of several hosts is used`()
    async throws
  {
    try await withNode(storing: 3) { node, tokens in
      let newer = try #require(JoinToken([UInt8](repeating: 9, count: 24), of: tokens[0].host))
      await node.store(newer)
      #expect(await node.joinTokens == [tokens[1], tokens[2], newer])
      let hosts = tokens.map(\.host)
      #expect(await node.takeToken(of: Array(hosts[1...])) == tokens[2])
      #expect(await node.takeToken(of: hosts) == newer)
      #expect(await node.takeToken(of: [Endpoint(.loopback4, port: 9)]) == nil)
      #expect(await node.takeToken(of: []) == nil)
      #expect(await node.joinTokens == [tokens[1]])
    }
  }
}
