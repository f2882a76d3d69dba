import Carom
import CaromCrypto
import CaromFleet
import Dispatch
import TestRedis
import Testing

/// The programs of the page Fleets.
@Suite(
  .timeLimit(.minutes(1)),
  .enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)))
struct FleetProgramTests {
  private let key = BackendKey.random()
  private static let game = GameVersion("counts", "1")

  private func settings(_ address: FleetAddress, region: String) -> FleetSettings {
    FleetSettings(
      address, key: key, as: .random(), game: Self.game, addresses: [.loopback4], region: region)
  }

  private static func host(_ fleet: FleetSettings, on loop: NetworkLoop) -> Task<Void, any Error> {
    Task {
      let me = PeerInfo(name: fleet.region, application: "counts")
      try await hostCounts(in: fleet, as: me, on: loop)
    }
  }

  @Test(arguments: [true, false])
  func `a match goes on at another host when its host is drained, or ends`(isDrained: Bool)
    async throws
  {
    try await RedisServer.withLoop { server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      let (near, far) = (settings(address, region: "eu-west"), settings(address, region: "any"))
      // The nearer host knows the other one as a door from the beginning.
      let other = Self.host(far, on: loop)
      try await directory.wait { $0.hosts.count == 1 }
      let host = Self.host(near, on: loop)
      try await directory.wait { $0.hosts.count == 2 }
      let match = try #require(MatchID("m1"))
      var players: [Task<Count?, any Error>] = []
      let (stream, shown) = AsyncStream.makeStream(of: PeerID.self)
      let ids = [PeerID.random(), .random()]
      let tokens = try await placePlayers(ids, in: match, of: Self.game, key: key, directory)
      for (id, token) in zip(ids, tokens) {
        let me = PeerInfo(id: id, name: "player", application: "counts")
        players.append(
          Task {
            try await raiseCount(with: token, as: me, on: loop, progress: { _ in }) { _ in
              shown.yield(me.id)
            }
          })
      }
      var playing: Set<PeerID> = []
      for await player in stream where playing.insert(player).inserted && playing.count == 2 {
        break
      }
      if isDrained {
        #expect(try await directory.drain(PeerID(of: near.identity.publicKey)))
        try await host.value
      } else {
        host.cancel()
        try await host.value
      }
      for player in players { #expect(try await player.value?.value ?? 0 >= 100) }
      #expect(players.count == 2)
      let status = try await directory.status()
      #expect(status.hosts.map(\.record.region) == ["any"])
      #expect(status.matches == 1 && status.orphans == 0)
      other.cancel()
      try await other.value
      await directory.close()
    }
  }

  @Test func `a player whose host freezes goes on at another one, which has the match then`()
    async throws
  {
    try await RedisServer.withLoop { server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      let other = Self.host(settings(address, region: "any"), on: loop)
      try await directory.wait { $0.hosts.count == 1 }
      let freezing = try NetworkLoop(name: "freezing")
      let host = Self.host(settings(address, region: "eu-west"), on: freezing)
      try await directory.wait { $0.hosts.count == 2 }
      let me = PeerInfo(id: .random(), name: "player", application: "counts")
      let match = try #require(MatchID("m1"))
      let token = try await placePlayers([me.id], in: match, of: Self.game, key: key, directory)[0]
      // The host lives on when the player has a result.
      let thaw = DispatchSemaphore(value: 0)
      var (visits, isFrozen) = (0, false)
      // The session must not give the frozen host up by itself before this test ends: that the
      // player looks for the match is what is tested.
      var timing = SessionTiming()
      timing.resumeLimit = .seconds(120)
      let told = Locked<[MatchProgress]>([])
      let result = try await Session.joinMatch(
        with: token, as: me, timing: timing, loop: loop,
        progress: { step in told.withLock { $0.append(step) } }
      ) { session, host in
        visits += 1
        try await host.send(Count(1), on: .raises)
        for await count in session.messages(on: .counts) where count.message.value > 0 {
          if visits > 1 { return count.message.value }
          guard !isFrozen else { continue }
          // By its tenth answer the host has told the player the doors.
          if count.message.value >= 10 {
            isFrozen = true
            freezing.post { thaw.wait() }
          } else {
            try await host.send(Count(1), on: .raises)
          }
        }
        return nil as UInt64?
      }
      thaw.signal()
      #expect(result != nil)
      let steps = told.withLock { $0 }
      #expect(steps.count >= 5 && steps.first == .joining(token.hosts))
      #expect(steps.dropFirst().prefix(2) == [.joined, .looking] && steps.last == .joined)
      try await directory.wait { status in
        status.hosts.map { ($0.record.region, $0.matches) }.sorted { $0.0 < $1.0 }
          .elementsEqual([("any", 1), ("eu-west", 0)]) { $0 == $1 }
      }
      for host in [host, other] {
        host.cancel()
        try await host.value
      }
      await freezing.shutdown()
      await directory.close()
    }
  }

  @Test func `a player is told that the host has ended without another one for the match`()
    async throws
  {
    try await RedisServer.withLoop { server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      let host = Self.host(settings(address, region: "any"), on: loop)
      try await directory.wait { $0.hosts.count == 1 }
      let match = try #require(MatchID("m1"))
      let me = PeerInfo(name: "player", application: "counts")
      let tokens = try await placePlayers([me.id], in: match, of: Self.game, key: key, directory)
      let (steps, told) = AsyncStream.makeStream(of: MatchProgress.self)
      let player = Task {
        defer { told.finish() }
        return try await Session.joinMatch(
          with: tokens[0], as: me, loop: loop, progress: { told.yield($0) }
        ) { session, _ in
          host.cancel()
          _ = await session.ending()
          return nil as Int?
        }
      }
      var progress: [MatchProgress] = []
      for await step in steps {
        progress.append(step)
        if step == .hostEnded { break }
      }
      #expect(progress.prefix(2) == [.joining(tokens[0].hosts), .joined])
      #expect(progress.last == .hostEnded)
      // It asks the hosts that it knows for a minute.
      player.cancel()
      _ = await player.result
      try await host.value
      await directory.close()
    }
  }

  @Test func `a host that is told to end drains as for an operator, and once`() async throws {
    try await RedisServer.withLoop { server, loop in
      let address = try server.address()
      let fleet = settings(address, region: "any")
      let directory = FleetDirectory(address, on: loop)
      let me = PeerInfo(name: "host", application: "counts")
      let id = PeerID(of: fleet.identity.publicKey)
      try await Session.host(in: fleet, as: me, on: [.loopback4], seats: 2, loop: loop) {
        _, matches in
        var events: [FleetMatches.Event] = []
        for await _ in FixedStep(hertz: 60, on: loop) {
          events += matches.takeEvents()
          guard events.contains(.registered) else { continue }
          if events.contains(.drainRequested) { break }
          matches.requestDrain()
        }
        await matches.drain()
        #expect(try await directory.drain(id))
        try await directory.wait { $0.hosts.map(\.isDraining) == [true] }
        events += matches.takeEvents()
        #expect(events == [.registered, .drainRequested])
      }
      #expect(try await directory.status().hosts.isEmpty)
      await directory.close()
    }
  }

  @Test func `a player who has a result leaves the match, and cannot join a host that is gone`()
    async throws
  {
    try await RedisServer.withLoop { server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      let fleet = settings(address, region: "any")
      let host = Self.host(fleet, on: loop)
      try await directory.wait { $0.hosts.count == 1 }
      let match = try #require(MatchID("m1"))
      let players = (0..<2).map { PeerInfo(name: "\($0)", application: "counts") }
      let tokens = try await placePlayers(
        players.map(\.id), in: match, of: Self.game, key: key, directory)
      await directory.close()
      // The body's own result ends the match of this player,
      let result = try await Session.joinMatch(
        with: tokens[0], as: players[0], loop: loop
      ) { _, _ in 2 }
      #expect(result == 2)
      // even if the host is gone when the body has it.
      let late = try await Session.joinMatch(
        with: tokens[1], as: players[1], loop: loop
      ) { session, _ in
        host.cancel()
        #expect(await session.ending() != nil)
        return 3
      }
      #expect(late == 3)
      try await host.value
      let told = Locked<[MatchProgress]>([])
      do {
        _ = try await Session.joinMatch(
          with: tokens[0], as: players[0], loop: loop,
          progress: { step in told.withLock { $0.append(step) } }
        ) { _, _ in 4 }
        Issue.record("a host that is gone was joined")
      } catch let error as FleetMatchError {
        guard case .notJoined = error else { throw error }
        #expect(error.description.contains("ask the matchmaker again"))
      }
      #expect(told.withLock { $0 } == [.joining(tokens[0].hosts)])
    }
  }
}
