import CaromSessionTesting
import Testing

/// Players who come back to a match without a server, and peers for whom it has no player.
@Suite struct ReturningPlayerTests {
  /// What one side saw of a match: the confirmed sum before each tick, and the notices.
  private struct View: Sendable {
    var player: Int?
    var sums: [Tick: UInt64] = [:]
    var notices: [PeerRollback<Pushes>.Notice] = []

    mutating func add(_ match: PeerRollback<Pushes>) {
      while let notice = match.pollNotice() {
        if notice != .stalling, notice != .running { notices.append(notice) }
      }
      guard let rollback = match.match?.rollback ?? match.spectator?.rollback else { return }
      player = match.player
      sums[rollback.confirmedTick] = rollback.state(at: rollback.confirmedTick)?.sum
    }

    /// The number of ticks at which this side and another one both saw the state.
    func countAgreed(with other: View) -> Int {
      sums.count { other.sums[$0.key] == $0.value }
    }

    /// Whether the two saw the same state wherever both saw one.
    func agrees(with other: View) -> Bool {
      sums.allSatisfy { other.sums[$0.key] ?? $0.value == $0.value }
    }
  }

  /// Plays until `end` of the world's time, or the end of the match.
  private static func play(
    _ match: PeerRollback<Pushes>, until end: Instant
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

  private static func join(
    _ pair: WorldPair, _ port: UInt16, as number: UInt64, until seconds: Int
  ) async throws -> View {
    let client = pair.world.addHost()
    let path = LinkProfile("path", LinkConditions(oneWay: .milliseconds(40), loss: 0.02))
    pair.world.setProfile(path, from: client, to: pair.server)
    let info = PeerInfo(id: PeerID(high: 7, low: number), name: "\(number)", application: "test")
    return try await Session.join(
      [Endpoint(pair.server.v4, port: port)], as: info, loop: client.loop
    ) { session, host in
      await play(PeerRollback<Pushes>(host, over: session), until: .zero + .seconds(seconds))
    }
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `a player who comes back plays again, and a further peer watches`(seed: UInt64)
    async throws
  {
    try await SessionWorld.run(seed: seed) { world in
      let pair = WorldPair(in: world)
      try await Session.host(as: .maya, seats: 3, loop: pair.server.loop) { hosting, port in
        async let own = Self.play(
          PeerRollback(hosting: Pushes(), players: 3, over: hosting),
          until: .zero + .seconds(18))
        async let staying = Self.join(pair, port, as: 1, until: 17)
        let first = try await Self.join(pair, port, as: 2, until: 4)
        try await world.sleep(for: .seconds(2))
        async let second = Self.join(pair, port, as: 2, until: 16)
        try await world.sleep(for: .seconds(3))
        let watching = try await Self.join(pair, port, as: 3, until: 14)
        let (host, other, back) = try await (own, staying, second)
        let player = try #require(first.player)
        #expect(back.player == player && other.player != player && watching.player == nil)
        for view in [first, back, watching, other] {
          #expect(view.agrees(with: host))
          #expect(!view.notices.contains { if case .desynced = $0 { true } else { false } })
        }
        // The player was gone for two seconds, and played from about second 7 to second 16.
        #expect(back.countAgreed(with: host) > 6 * 60)
        #expect(other.countAgreed(with: host) > 12 * 60)
        #expect(watching.countAgreed(with: host) > 3 * 60)
        #expect(host.notices.prefix(3).map(\.kind) == ["began", "left", "returned"])
        #expect(host.notices.contains(.returned(player: player)))
        #expect(back.notices.first == .began(player: player))
        #expect(watching.notices.first == .began(player: nil))
      }
    }
  }

  @Test func `the game goes on for a peer that takes the place of another`() async throws {
    try await SessionWorld.run(seed: 4) { world in
      let pair = WorldPair(in: world)
      try await Session.host(as: .maya, seats: 1, loop: pair.server.loop) { hosting, port in
        async let own = Self.play(
          PeerRollback(hosting: Pushes(), players: 2, over: hosting),
          until: .zero + .seconds(14))
        let first = try await Self.join(pair, port, as: 1, until: 3)
        let second = try await Self.join(pair, port, as: 2, until: 7)
        let third = try await Self.join(pair, port, as: 3, until: 11)
        let host = await own
        for view in [first, second, third] {
          #expect(view.player == 1 && view.agrees(with: host))
          #expect(view.countAgreed(with: host) > 60)
        }
        #expect(
          host.notices.map(\.kind)
            == ["began", "left", "returned", "left", "returned", "left"])
      }
    }
  }
}

extension PeerRollback.Notice {
  fileprivate var kind: String {
    switch self {
    case .began: "began"
    case .left: "left"
    case .returned: "returned"
    case .ended: "ended"
    case .desynced: "desynced"
    case .stalling, .running, .missed: "other"
    }
  }
}
