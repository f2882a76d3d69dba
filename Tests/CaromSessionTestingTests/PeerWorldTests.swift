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
}
