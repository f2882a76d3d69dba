import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Testing

/// Replicated worlds over sessions on loopback.
@Suite struct WorldOverSessionTests {
  private static let schema = EntitySchema(
    .position(0...100, step: 0.01), .position(0...100, step: 0.01))

  private func makeWorld(within radius: Double? = nil) -> WorldReplicator {
    WorldReplicator(
      WorldConfiguration(
        schema: Self.schema, area: radius.map { InterestArea(within: $0) }, ticksPerSecond: 120))
  }

  /// Places entity n at x = n m, and moves all of them up a little with each tick.
  private func move(_ hosted: HostedWorld) {
    for id in UInt32(0)..<50 {
      hosted.world.set(id, values: [Int64(id) * 100, Int64(hosted.world.tick.rawValue) % 10_000])
    }
  }

  @Test func `each peer sees what is near its focus, until the host ends the session`()
    async throws
  {
    try await withNetworkLoop { loop in
      let (ports, opened) = AsyncStream.makeStream(of: UInt16.self)
      let hosting = Task {
        try await Session.host(
          as: makePeer("host"), on: [.loopback4], seats: 2, loop: loop
        ) { session, port in
          opened.yield(port)
          try await makeWorld(within: 10).run(over: session) { hosted in
            while case .joined(let peer)? = hosted.pollNotice() {
              #expect(hosted.client(of: peer) != nil && hosted.peers == [peer])
              hosted.setFocus(x: 25, y: 0, for: peer)
            }
            move(hosted)
          }
        }
      }
      for await port in ports {
        let endpoints = [Endpoint(.loopback4, port: port)]
        try await Session.join(endpoints, as: makePeer("client"), loop: loop) { session, host in
          let view = JoinedWorld(host, schema: Self.schema, over: session)
          #expect(view.tick == nil && view.endReason == nil)
          var ticks: [Tick] = []
          for await tick in view.updates {
            #expect(tick == view.tick)
            ticks.append(tick)
            if ticks.count == 20 { hosting.cancel() }
          }
          #expect(ticks.count >= 20 && ticks == ticks.sorted())
          #expect(view.entities.ids.contains(25) && !view.entities.ids.contains(45))
          #expect(view.endReason == .finished)
          #expect(!view.update())
        }
        break
      }
      _ = try await hosting.value
    }
  }

  @Test func `a frame loop replicates and shows with one call per frame`() async throws {
    try await withPair { pair in
      // The client is connected before the world begins.
      let hosted = HostedWorld(makeWorld(), over: pair.hosting)
      let view = JoinedWorld(pair.host, schema: Self.schema, over: pair.visiting)
      var updates = 0
      while updates < 10 {
        hosted.update(move)
        if view.update() { updates += 1 }
        try await nextFrame()
      }
      #expect(view.entities.count == 50 && view.host == pair.host)
      #expect(hosted.pollNotice() == .joined(pair.client) && hosted.pollNotice() == nil)
      // The snapshots are deltas, because their acknowledgements arrive.
      let client = try #require(hosted.client(of: pair.client))
      while hosted.world.snapshot(for: client).count > 200 {
        hosted.update(move)
        view.update()
        try await nextFrame()
      }
      // Nothing moves any more: once the last snapshot is acknowledged, there is none to send.
      var frames = 0
      while let sent = hosted.world.sentTick(of: client), frames < 5_000,
        sent.distance(to: hosted.world.tick) < 10
      {
        hosted.update { _ in }
        view.update()
        frames += 1
        try await nextFrame()
      }
      #expect(frames < 5_000)
      await pair.client.kick("closing time")
      while view.endReason == nil {
        view.update()
        try await nextFrame()
      }
      while !hosted.peers.isEmpty {
        hosted.update(move)
        try await nextFrame()
      }
      #expect(view.endReason == .kicked("closing time"))
      #expect(hosted.pollNotice() == .left(pair.client, .closedLocally))
    }
  }

  @Test func `an acknowledgement or a snapshot that is nonsense ends the connection`() async throws
  {
    try await withPair { pair in
      let hosted = HostedWorld(makeWorld(), over: pair.hosting)
      while hosted.peers.isEmpty {
        hosted.update(move)
        try await nextFrame()
      }
      _ = pair.host.post(EncodedMessage([1, 2, 3, 4, 5]), on: hosted.channels.acknowledgements)
      while hosted.pollNotice() != .left(pair.client, .protocolViolation) {
        hosted.update(move)
        try await nextFrame()
      }
    }
    try await withPair { pair in
      let view = JoinedWorld(pair.host, schema: Self.schema, over: pair.visiting)
      _ = pair.client.post(EncodedMessage([255, 255]), on: view.channels.snapshots)
      for await _ in view.updates {}
      #expect(view.endReason == .protocolViolation)
      #expect(await pair.hosting.ending() == .protocolViolation)
    }
  }
}
