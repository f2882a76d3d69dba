import CaromSessionTesting
import Testing

/// Rollback matches without a server over sessions, on slow paths and on paths that fail.
@Suite struct PeerWorldTests {
  /// What a player saw of a match of 20 s.
  private struct Report: Sendable {
    var player: Int?
    var inputDelay = 0
    /// The stalls and the ticks after eight seconds and at the end.
    var stalls: (early: Int, all: Int) = (0, 0)
    var ticks: (early: Tick, end: Tick) = (.zero, .zero)
    var notices: [PeerRollback<Pushes>.Notice] = []
  }

  private static func play(_ match: PeerRollback<Pushes>) async -> Report {
    var report = Report(player: match.player)
    let start = match.session.loop.now
    for await tick in match.ticks {
      match.advance(with: Pushes.Push(at: tick))
      while let notice = match.pollNotice() { report.notices.append(notice) }
      let time = match.session.loop.now - start
      // The others need this side's inputs for a little longer.
      if time > .seconds(21) { break }
      guard time <= .seconds(20), let rollback = match.match?.rollback else { continue }
      report.stalls.all = rollback.statistics.stalls
      report.ticks.end = rollback.tick
      report.inputDelay = match.match?.currentInputDelay ?? 0
      if time <= .seconds(8) {
        (report.stalls.early, report.ticks.early) = (report.stalls.all, report.ticks.end)
      }
    }
    return report
  }

  private static func host(players: Int, over session: Session) async throws -> Report {
    await play(try await RollbackSession.host(Pushes(), players: players, over: session))
  }

  private static func join(
    _ server: SessionWorld.Host, _ port: UInt16, from client: SessionWorld.Host, as info: PeerInfo
  ) async throws -> Report {
    try await Session.join([Endpoint(server.v4, port: port)], as: info, loop: client.loop) {
      session, host in
      await play(try await RollbackSession<Pushes>.join(host, over: session))
    }
  }

  @Test func `three players on slow paths play without a stall after some seconds`() async throws {
    try await SessionWorld.run(seed: 1) { world in
      let server = world.addHost()
      let clients = [world.addHost(), world.addHost()]
      let path = LinkProfile("path", LinkConditions(oneWay: .milliseconds(200)))
      for client in clients { world.setProfile(path, from: client, to: server) }
      let zoe = PeerInfo(id: PeerID(high: 3, low: 3), name: "Zoe", application: "test")
      let reports = try await Session.host(as: .maya, seats: 2, loop: server.loop) {
        hosting, port in
        async let own = Self.host(players: 3, over: hosting)
        async let second = Self.join(server, port, from: clients[0], as: .leo)
        async let third = Self.join(server, port, from: clients[1], as: zoe)
        return try await [own, second, third]
      }
      #expect(Set(reports.map(\.player)) == [0, 1, 2])
      for report in reports {
        #expect(report.stalls.all == report.stalls.early, "player \(report.player ?? -1)")
        let ticks = report.ticks.early.distance(to: report.ticks.end)
        #expect((700...740).contains(ticks), "player \(report.player ?? -1)")
      }
      // The messages of the clients to each other take 400 ms, more than the prediction hides.
      for report in reports where report.player != 0 { #expect(report.inputDelay > 0) }
    }
  }

  /// Cuts the client's network after three seconds, for three seconds.
  private static func fail(_ pair: WorldPair) async throws {
    try await pair.world.sleep(for: .seconds(3))
    pair.world.withNetwork { $0.cut(pair.client.host) }
    try await pair.world.sleep(for: .seconds(3))
    pair.world.withNetwork { $0.restore(pair.client.host) }
  }

  @Test func `players whose game stalls for a second are told, and told when it goes on`()
    async throws
  {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      try await Session.host(as: .maya, loop: pair.server.loop) { hosting, port in
        async let failure: Void = Self.fail(pair)
        async let own = Self.host(players: 2, over: hosting)
        let other = try await Self.join(pair.server, port, from: pair.client, as: .leo)
        for report in try await [own, other] {
          let player = try #require(report.player)
          #expect(report.notices.prefix(3) == [.began(player: player), .stalling, .running])
          #expect(report.stalls.all > 60)
        }
        try await failure
      }
    }
  }

  // MARK: Spectators

  /// What one side of a match saw: the confirmed sum before each tick, and the notices.
  private struct View: Sendable {
    var sums: [Tick: UInt64] = [:]
    var notices: [PeerRollback<Pushes>.Notice] = []

    mutating func add(_ match: PeerRollback<Pushes>) {
      while let notice = match.pollNotice() { notices.append(notice) }
      guard let rollback = match.match?.rollback ?? match.spectator?.rollback else { return }
      sums[rollback.confirmedTick] = rollback.state(at: rollback.confirmedTick)?.sum
    }
  }

  private static func view(
    _ match: PeerRollback<Pushes>, until end: Instant = Instant(nanoseconds: .max)
  ) async -> View {
    var view = View()
    for await tick in match.ticks {
      match.advance(with: Pushes.Push(at: tick))
      view.add(match)
      if match.session.loop.now >= end { break }
    }
    view.add(match)
    return view
  }

  private static func watch(
    _ server: SessionWorld.Host, _ port: UInt16, from client: SessionWorld.Host, _ number: UInt64,
    isSpectator: Bool = true, for duration: Duration = .seconds(60)
  ) async throws -> View {
    let info = PeerInfo(
      id: PeerID(high: 9, low: number), name: "\(number)", application: "test",
      isSpectator: isSpectator)
    return try await Session.join(
      [Endpoint(server.v4, port: port)], as: info, loop: client.loop
    ) { session, host in
      let match = PeerRollback<Pushes>(host, over: session)
      let view = await Self.view(match, until: session.loop.now + duration)
      if isSpectator { #expect(match.player == nil && match.match == nil && match.state != nil) }
      return view
    }
  }

  @Test func `spectators of a match without a server see what is confirmed, from any time on`()
    async throws
  {
    try await SessionWorld.run(seed: 1) { world in
      let server = world.addHost()
      let clients = (0..<4).map { _ in world.addHost() }
      for client in clients {
        let path = LinkProfile("path", LinkConditions(oneWay: .milliseconds(40), loss: 0.05))
        world.setProfile(path, from: client, to: server)
      }
      let (played, watched) = try await Session.host(
        as: .maya, seats: 1, spectatorSeats: 3, loop: server.loop
      ) { hosting, port in
        // The first spectator waits for the match, the second joins during it and leaves early.
        async let first = Self.watch(server, port, from: clients[0], 1)
        async let own = Self.view(
          PeerRollback(hosting: Pushes(), players: 2, over: hosting),
          until: hosting.loop.now + .seconds(15))
        try await world.sleep(for: .seconds(2))
        async let other = Self.watch(server, port, from: clients[1], 2, isSpectator: false)
        try await world.sleep(for: .seconds(4))
        async let second = Self.watch(server, port, from: clients[2], 3, for: .seconds(3))
        try await world.sleep(for: .seconds(5))
        async let third = Self.watch(server, port, from: clients[3], 4)
        let view = await own
        for peer in await hosting.peers { await peer.close(Goodbye(.finished)) }
        _ = try await other
        return (view, try await [first, second, third])
      }
      let counts = watched.map { view in
        view.sums.count { played.sums[$0.key] == $0.value && $0.value > 0 }
      }
      for (view, count) in zip(watched, counts) {
        #expect(view.sums.allSatisfy { played.sums[$0.key] ?? $0.value == $0.value })
        #expect(view.notices.first == .began(player: nil) && count > 100)
        #expect(!view.notices.contains { if case .desynced = $0 { true } else { false } })
      }
      #expect(counts[0] > 600)
      #expect(watched[0].notices.last == .ended(.finished))
      #expect((watched[2].sums.keys.min() ?? .zero) > Tick(400))
      #expect(played.notices.first == .began(player: 0))
    }
  }
}
