import CaromSessionTesting
import Testing

/// Sessions on all networks of `LinkProfile.all`, by seed.
@Suite struct WorldSessionTests {
  @Test(arguments: [LinkKinds.all, .datagram, .stream])
  func `an echo returns every line in order`(_ kinds: LinkKinds) async throws {
    try await checkWorlds { pair in
      let lines = (0..<30).map { "line \($0)" }
      try await Session.host(as: .maya, over: kinds, loop: pair.server.loop) { hosting, port in
        async let _ = hosting.echo()
        let echoed = try await pair.join(port, over: kinds) { session, host in
          for line in lines { try await host.send(line, on: .lines) }
          return await session.take(lines.count, on: .lines)
        }
        #expect(echoed == lines)
      }
    }
  }

  @Test func `a chat loses no line where datagrams are lost`() async throws {
    try await checkWorlds { pair in
      try await Session.host(as: .maya, seats: 1, loop: pair.server.loop) { hosting, port in
        try await pair.join(port) { session, host in
          async let spoken: Void = speak(to: host, in: pair.world)
          _ = try await hosting.event { if case .joined = $0 { true } else { false } }
          let heard = await hosting.take(120, on: .lines)
          #expect(heard == (0..<120).map { "line \($0)" })
          try await spoken
          let counters = pair.world.withNetwork { $0.counters }
          #expect(counters.datagramsSent > 120)
        }
      }
    }
  }

  /// Sends a line and a position every 50 ms for 6 s.
  private func speak(to host: Peer, in world: SessionWorld) async throws {
    for number in 0..<120 {
      try await host.send("line \(number)", on: .lines)
      try await host.trySend("position \(number)", on: .positions)
      try await world.sleep(for: .milliseconds(50))
    }
  }

  @Test func `a join that the host declines is told the reason`() async throws {
    try await checkWorlds { pair in
      try await Session.host(
        as: .maya, loop: pair.server.loop, admit: { .decline("not you, \($0.name)") }
      ) { hosting, port in
        _ = await #expect(throws: SessionError.refused(.declined("not you, Leo"))) {
          try await pair.join(port) { _, _ in Issue.record("the client was admitted") }
        }
      }
    }
  }

  @Test func `a session resumes after an outage without losing a line`() async throws {
    try await checkWorlds(1) { pair in
      var timing = SessionTiming()
      timing.resumeLimit = .seconds(60)
      let resumable = timing
      try await Session.host(as: .maya, timing: resumable, loop: pair.server.loop) {
        hosting, port in
        try await pair.join(port, timing: resumable) { session, host in
          try await host.send("before", on: .lines)
          #expect(await hosting.take(1, on: .lines) == ["before"])
          pair.world.withNetwork { $0.cut(pair.client.host) }
          _ = try await hosting.event { if case .interrupted = $0 { true } else { false } }
          try await host.send("during", on: .lines)
          pair.world.withNetwork { $0.restore(pair.client.host) }
          _ = try await hosting.event { if case .resumed = $0 { true } else { false } }
          try await host.send("after", on: .lines)
          #expect(await hosting.take(2, on: .lines) == ["during", "after"])
        }
      }
    }
  }

  @Test func `a port on which nobody listens refuses a stream at once`() async throws {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      await #expect(throws: SessionError.transport(.connectionRefused)) {
        try await Session.join(
          [Endpoint(pair.server.v4, port: 7777)], as: .leo, over: .stream,
          loop: pair.client.loop
        ) { _, _ in }
      }
      #expect(world.now < Instant.zero + .milliseconds(10))
    }
  }

  @Test func `two sessions cannot listen on one port of a host`() async throws {
    try await SessionWorld.run(seed: 1) { world in
      let host = world.addHost()
      try await Session.host(as: .maya, loop: host.loop) { _, port in
        _ = await #expect(throws: TransportError.addressInUse(port: port)) {
          try await Session.host(as: .maya, port: port, loop: host.loop) { _, _ in }
        }
      }
    }
  }

  @Test func `a client over IPv6 and the link-local address is admitted`() async throws {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      try await Session.host(as: .maya, loop: pair.server.loop) { hosting, port in
        try await Session.join(
          [Endpoint(pair.server.v6, port: port)], as: .leo, loop: pair.client.loop
        ) { session, host in
          try await host.send("hello", on: .lines)
          #expect(await hosting.take(1, on: .lines) == ["hello"])
        }
      }
    }
  }
}
