import CaromSessionTesting
import Testing

/// Messages and goodbyes that frame loops post, and when messages arrive.
@Suite struct PostedMessageTests {
  private static let lines = (0..<200).map { "line \($0)" }

  /// Reads lines until the host has left, and returns them with the reason.
  private static func read(_ session: Session) async -> ([String], DisconnectReason?) {
    var lines: [String] = []
    for await line in session.messages(on: .lines) { lines.append(line.message) }
    var reason: DisconnectReason?
    for await event in session.events { if case .left(_, let why) = event { reason = why } }
    return (lines, reason)
  }

  @Test(arguments: [true, false])
  func `what was posted before a goodbye arrives before it`(isPeerDisconnected: Bool) async throws {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      let port: UInt16 = 7777
      async let hosting: Void = Session.host(as: .maya, port: port, loop: pair.server.loop) {
        session, _ in
        let event = try await session.event { if case .joined = $0 { true } else { false } }
        guard case .joined(let peer) = event else { return }
        for line in Self.lines { #expect(peer.post(line, on: .lines)) }
        guard isPeerDisconnected else { return }
        peer.disconnect(Goodbye(.tooSlow), as: .finished)
        let end = try await session.event { if case .left = $0 { true } else { false } }
        #expect(end == .left(peer, .finished))
      }
      try await pair.join(port) { session, host in
        #expect(host.isHost)
        let (lines, reason) = await Self.read(session)
        #expect(lines == Self.lines)
        #expect(reason == (isPeerDisconnected ? .tooSlow : .finished))
      }
      try await hosting
    }
  }

  @Test func `a message has the time at which it arrived, however late it is read`() async throws {
    try await SessionWorld.run(seed: 1) { world in
      let path = LinkProfile("path", LinkConditions(oneWay: .milliseconds(40)))
      let pair = WorldPair(in: world, profile: path)
      try await Session.host(as: .maya, loop: pair.server.loop) { hosting, port in
        #expect(hosting.takeMessages(on: .lines).isEmpty)
        let sent = try await pair.join(port) { session, host in
          try await world.sleep(for: .seconds(1))
          let now = session.loop.now
          try await host.send("hello", on: .lines)
          try await world.sleep(for: .seconds(2))
          return now
        }
        let received = try #require(hosting.takeMessages(on: .lines).first)
        #expect(!received.peer.isHost)
        let time = received.arrival - sent
        #expect((.milliseconds(40)..<(.milliseconds(45))).contains(time), "\(time)")
      }
    }
  }

  @Test(arguments: [MessageChannel<String>.lines, .positions])
  func `a peer that sends on a channel that is not used is disconnected`(
    channel: MessageChannel<String>
  ) async throws {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      let used = MessageChannel<String>(2, .reliableOrdered)
      try await Session.host(as: .maya, loop: pair.server.loop) { hosting, port in
        hosting.rejectMessages(exceptOn: [used.id])
        try await pair.join(port) { session, host in
          try await host.send("hello", on: used)
          #expect(await hosting.take(1, on: used) == ["hello"])
          try await host.send("hello", on: channel)
          let end = try await session.event { if case .left = $0 { true } else { false } }
          #expect(end == .left(host, .protocolViolation))
        }
      }
    }
  }

  @Test func `a channel that has a reader keeps it when messages on other channels are rejected`()
    async throws
  {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      try await Session.host(as: .maya, loop: pair.server.loop) { hosting, port in
        #expect(hosting.takeMessages(on: .lines).isEmpty)
        hosting.rejectMessages(exceptOn: [])
        try await pair.join(port) { _, host in
          try await host.send("read", on: .lines)
          #expect(await hosting.take(1, on: .lines) == ["read"])
        }
      }
    }
  }
}
