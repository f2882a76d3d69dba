import CaromSessionTesting
import Testing

/// A client's loops over messages, events and requests when its host is gone (the page Sessions,
/// "Host and join").
@Suite struct LostHostTests {
  /// More lines than an unread channel keeps in its inbox, so that some stay in the connection.
  private static let lines = (0..<1_500).map { "line \($0)" }
  private static let port: UInt16 = 7777

  /// Hosts a session that sends all lines to the first peer, and ends.
  private func sendLines(from server: SessionWorld.Host, over kinds: LinkKinds) async throws {
    try await Session.host(as: .maya, port: Self.port, over: kinds, loop: server.loop) {
      session, _ in
      let event = try await session.event { if case .joined = $0 { true } else { false } }
      guard case .joined(let peer) = event else { return }
      for line in Self.lines { try await peer.send(line, on: .lines) }
    }
  }

  /// Reads the events until their loop returns, and returns the reason for which the host left.
  private func endReason(of session: Session) async -> DisconnectReason? {
    var reason: DisconnectReason?
    for await event in session.events { if case .left(_, let why) = event { reason = why } }
    return reason
  }

  @Test(arguments: [LinkKinds.all, .datagram, .stream])
  func `all loops of a client return when its host leaves, after everything that arrived before`(
    _ kinds: LinkKinds
  ) async throws {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      async let hosting: Void = sendLines(from: pair.server, over: kinds)
      try await pair.join(Self.port, over: kinds) { session, _ in
        async let answering: Void = session.respond(to: .ping) { _, text in text }
        var received: [String] = []
        for await line in session.messages(on: .lines) {
          if received.isEmpty { try await world.sleep(for: .seconds(3)) }  // the host has left
          received.append(line.message)
        }
        #expect(received == Self.lines)
        #expect(await endReason(of: session) == .finished)
        await answering
        // A reader that begins now has nothing to wait for.
        #expect(await session.take(1, on: .positions) == [])
      }
      try await hosting
    }
  }

  @Test func `messages that arrived before the host left can be read for the first time later`()
    async throws
  {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      async let hosting: Void = sendLines(from: pair.server, over: .all)
      try await pair.join(Self.port) { session, _ in
        #expect(await endReason(of: session) == .finished)
        let count = await session.take(Self.lines.count + 1, on: .lines).count
        #expect(count > 0 && count <= Self.lines.count)
      }
      try await hosting
    }
  }

  @Test func `a match that ended before its client looked is seen to its end`() async throws {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      async let hosting: Pushes = Session.host(
        as: .maya, port: Self.port, loop: pair.server.loop
      ) { session, _ in
        let match = HostedRollback(
          RollbackServer(Pushes(), players: 1, at: session.loop.now), over: session)
        var ticks = 0
        for await _ in match.ticks where ticks < 30 {
          if !match.peers.isEmpty { ticks += 1 }
          match.advance()
          if ticks == 30 { break }
        }
        match.finish()
        return match.server.state
      }
      try await pair.join(Self.port) { session, host in
        try await world.sleep(for: .seconds(3))  // the host has left
        let match = JoinedRollback<Pushes>(host, over: session)
        try await world.sleep(for: .milliseconds(1))  // the match knows that
        match.update()
        #expect(match.endReason == .finished && match.state != nil)
      }
      _ = try await hosting
    }
  }

  @Test func `all loops of a client return when its host is silent for too long`() async throws {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      try await Session.host(as: .maya, loop: pair.server.loop) { _, port in
        try await pair.join(port) { session, host in
          let view = JoinedWorld(host, schema: EntitySchema(.flag), over: session)
          pair.world.withNetwork { $0.cut(pair.client.host) }
          #expect(await session.take(1, on: .lines) == [])
          #expect(await endReason(of: session) == .timedOut)
          for await _ in view.updates { Issue.record("an update came from a host that is gone") }
          #expect(view.endReason == .timedOut)
          let later = JoinedWorld(host, schema: EntitySchema(.flag), over: session)
          for await _ in later.updates { Issue.record("an update came from a host that is gone") }
        }
      }
    }
  }
}

extension Exchange<String, String> {
  fileprivate static var ping: Self { .init(5) }
}
