import CaromSessionTesting
import Testing

/// What a host does with a match over a session: it pauses the match, prepares it for a peer that
/// joins, and ends it for one peer (the page Rollback, "Play over a session").
@Suite struct ServedMatchTests {
  private static func makeMatch(_ session: Session) -> HostedRollback<Pushes> {
    HostedRollback(RollbackServer(Pushes(), players: 2, at: session.loop.now), over: session)
  }

  /// Plays for `duration` and returns the number of inputs that the host replaced in the last
  /// second.
  private static func play(
    _ match: JoinedRollback<Pushes>, for duration: Duration
  ) async -> Int {
    let start = match.session.loop.now
    var overridden = 0
    for await tick in match.ticks {
      match.advance(with: Pushes.Push(at: tick))
      let time = match.session.loop.now - start
      if time < duration - .seconds(1) { overridden = match.client.overriddenInputs }
      if time >= duration { break }
    }
    return match.client.overriddenInputs - overridden
  }

  @Test func `a paused match has no ticks, skips those of the pause, and can be joined`()
    async throws
  {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      try await Session.host(as: .maya, loop: pair.server.loop) { session, port in
        let match = Self.makeMatch(session)
        match.isPaused = true
        async let visit = pair.join(port) { session, host in
          let joined = try await RollbackClient<Pushes>.join(host, over: session)
          let first = joined.client.rollback?.confirmedTick
          return (first, await Self.play(joined, for: .seconds(12)))
        }
        for _ in 0..<5 * 60 {
          try await world.sleep(for: .milliseconds(16))
          match.update()
        }
        #expect(match.server.tick == .zero && match.peers.count == 1)
        let start = session.loop.now
        match.isPaused = false
        for await _ in match.ticks {
          match.advance()
          if session.loop.now >= start + .seconds(2) { break }
        }
        let ticks = Int(match.server.tick.rawValue)
        #expect((119...121).contains(ticks))
        match.isPaused = true
        #expect(!match.isTickDue)
        try await world.sleep(for: .seconds(3))
        match.update()
        #expect(Int(match.server.tick.rawValue) == ticks)
        match.isPaused = false
        match.update()
        #expect(Int(match.server.tick.rawValue) == ticks)
        for await _ in match.ticks {
          match.advance()
          if match.peers.isEmpty { break }
        }
        let (first, overridden) = try await visit
        #expect(first == .zero && overridden == 0)
      }
    }
  }

  /// In both cases, the first tick after the peer has joined gets the host's input.
  @Test(arguments: [false, true])
  func `the first state of a peer includes what the host sets when it has joined`(
    isPaused: Bool
  ) async throws {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      try await Session.host(as: .maya, loop: pair.server.loop) { session, port in
        let match = HostedRollback(
          RollbackServer(Pushes(), players: 2, at: session.loop.now), over: session,
          remotePlayers: [0])
        match.isPaused = isPaused
        async let visit: UInt64? = pair.join(port) { session, host in
          try await RollbackClient<Pushes>.join(host, over: session).client.confirmedState?.sum
        }
        // The frames are shorter than a tick.
        while !match.isOver {
          try await world.sleep(for: .milliseconds(3))
          match.receive()
          while let notice = match.pollNotice() {
            if case .joined = notice {
              match.server.setInput(Pushes.Push(at: Tick(7)), for: 1)
              match.isPaused = false
            }
          }
          while match.isTickDue { match.advance() }
          if match.server.state.sum > 0 { break }
        }
        let joined = try await visit
        #expect(match.server.state.sum == 7 && joined == 7)
      }
    }
  }

  /// Joins a match and returns the sum of its first state.
  private static func firstSum(
    in pair: WorldPair, _ port: UInt16, isSpectator: Bool
  ) async throws -> UInt64? {
    let info = PeerInfo(
      id: .random(), name: "Zoe", application: "test", isSpectator: isSpectator)
    return try await Session.join(
      [Endpoint(pair.server.v4, port: port)], as: info, loop: pair.client.loop
    ) { session, host in
      let match = try await RollbackClient<Pushes>.join(host, over: session)
      return match.client.confirmedState?.sum
    }
  }

  @Test func `a player who joins a paused match beside a spectator gets what the host prepares`()
    async throws
  {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      try await Session.host(as: .maya, spectatorSeats: 1, loop: pair.server.loop) {
        session, port in
        let match = HostedRollback(
          RollbackServer(Pushes(), players: 2, at: session.loop.now), over: session,
          remotePlayers: [0])
        match.isPaused = true
        async let watched = Self.firstSum(in: pair, port, isSpectator: true)
        while await session.peers.count < 1 { try await world.sleep(for: .milliseconds(3)) }
        match.receive()
        // The player joins while the spectator waits for its first state.
        async let played = Self.firstSum(in: pair, port, isSpectator: false)
        while await session.peers.count < 2 { try await world.sleep(for: .milliseconds(3)) }
        match.receive()
        while let notice = match.pollNotice() {
          guard case .joined(_, player: _?) = notice else { continue }
          match.server.setInput(Pushes.Push(at: Tick(7)), for: 1)
          match.isPaused = false
        }
        while await !session.peers.isEmpty {
          try await world.sleep(for: .milliseconds(3))
          match.receive()
          while match.isTickDue { match.advance() }
        }
        let sums = try await (watched, played)
        #expect(sums.0 == 7 && sums.1 == 7)
      }
    }
  }

  @Test func `a host is told when a player has no network, and when it has one again`()
    async throws
  {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      try await Session.host(as: .maya, loop: pair.server.loop) { session, port in
        let match = Self.makeMatch(session)
        async let visit = pair.join(port) { session, host in
          let joined = try await RollbackClient<Pushes>.join(host, over: session)
          return await Self.play(joined, for: .seconds(14))
        }
        var notices: [HostedRollback<Pushes>.Notice] = []
        let start = session.loop.now
        var isCut = false
        for await _ in match.ticks {
          match.advance()
          let time = session.loop.now - start
          if isCut != (.seconds(2)..<(.seconds(8))).contains(time) {
            isCut.toggle()
            world.withNetwork { [isCut] in
              if isCut { $0.cut(pair.client.host) } else { $0.restore(pair.client.host) }
            }
          }
          while let notice = match.pollNotice() { notices.append(notice) }
          if case .left? = notices.last { break }
        }
        let peers = notices.compactMap { notice in
          if case .joined(let peer, player: 0) = notice { peer } else { nil }
        }
        let peer = try #require(peers.first)
        let network = notices.filter { notice in
          switch notice {
          case .interrupted, .resumed: true
          default: false
          }
        }
        #expect(network == [.interrupted(peer, player: 0), .resumed(peer, player: 0)])
        #expect(match.lastInputs(of: peer) == nil)
        _ = try await visit
      }
    }
  }

  @Test func `a match ends for one peer with its last inputs, and goes on for the others`()
    async throws
  {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      try await Session.host(as: .maya, seats: 2, loop: pair.server.loop) { session, port in
        let match = Self.makeMatch(session)
        async let leaving = pair.join(port) { session, host in
          let joined = try await RollbackClient<Pushes>.join(host, over: session)
          for await tick in joined.ticks { joined.advance(with: Pushes.Push(at: tick)) }
          return (joined.client.rollback?.confirmedTick, joined.endReason)
        }
        var end: Tick?
        for await _ in match.ticks {
          match.advance()
          let tick = match.server.tick
          guard let peer = match.peer(of: 0) else {
            if end != nil { break }
            continue
          }
          #expect(end == nil || match.lastInputs(of: peer) != nil)
          if tick < Tick(90) { continue }
          if end == nil {
            end = tick
            #expect(match.finish(for: peer))
            #expect(!match.finish(for: peer))
          }
          if tick == Tick(150) { peer.disconnect(Goodbye(.finished), as: .finished) }
        }
        let (last, reason) = try await leaving
        #expect(last == end && reason == .finished)
        #expect(match.server.tick > Tick(150))
      }
    }
  }

  @Test func `a client leaves a host that sends no state in time`() async throws {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      try await Session.host(as: .maya, loop: pair.server.loop) { hosting, port in
        try await pair.join(port) { session, host in
          let match = JoinedRollback<Pushes>(host, over: session, stateLimit: .seconds(3))
          let start = session.loop.now
          for await _ in match.ticks { match.advance() }
          #expect(match.endReason == .timedOut)
          #expect((.seconds(3)..<(.milliseconds(3_100))).contains(session.loop.now - start))
          var notices: [JoinedRollback<Pushes>.Notice] = []
          while let notice = match.pollNotice() { notices.append(notice) }
          #expect(notices == [.left(.timedOut)])
        }
        let end = try await hosting.event { if case .left = $0 { true } else { false } }
        guard case .left(_, .timedOut) = end else {
          Issue.record("\(end)")
          return
        }
      }
    }
  }

  @Test func `a client that has a state stays, however late it is`() async throws {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      try await Session.host(as: .maya, loop: pair.server.loop) { hosting, port in
        let server = RollbackServer(Pushes(), players: 2, at: hosting.loop.now)
        async let _ = server.run(over: hosting)
        try await pair.join(port) { session, host in
          let match = JoinedRollback<Pushes>(host, over: session, stateLimit: .seconds(1))
          _ = await Self.play(match, for: .seconds(3))
          #expect(match.endReason == nil && match.state != nil && match.lastInputs != nil)
          #expect(match.client.predictedTicks > 0)
          let rollback = try #require(match.client.rollback)
          #expect(match.client.confirmedState == rollback.state(at: rollback.confirmedTick))
        }
      }
    }
  }
}
