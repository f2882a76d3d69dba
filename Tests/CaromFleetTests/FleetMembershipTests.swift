import CaromCore
import CaromCrypto
import CaromFleet
import CaromPlacement
import CaromTransport
import TestRedis
import Testing

@Suite(
  .timeLimit(.minutes(1)),
  .enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)))
struct FleetMembershipTests {
  @Test func `two hosts register, and a match is placed, played and finished`() async throws {
    try await RedisServer.withLoop { server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      let first = try await TestHost(.make(1), in: address, on: loop)
      let second = try await TestHost(.make(2, region: "us"), in: address, on: loop)
      let placement = try await directory.place(PlacementRequest(1, players: 1, 2, near: "us"))
        .get()
      #expect(placement.host == second.membership.record)
      // The next renewal tells the host of the match before a player comes.
      let match = try await second.waitForMatch(.match(1))
      #expect(match.claim == placement.claim && match.checkpoint == nil)
      #expect(match.players == [.player(1), .player(2)])
      #expect(await first.membership.admit(.player(1), with: match.claim) == .otherHost)
      for player in [PeerID.player(1), .player(2)] {
        #expect(await second.membership.admit(player, with: match.claim) == .accepted)
      }
      await second.membership.report(HostLoad(lateTicks: 3, processor: 40))
      await second.membership.remove(.player(2), from: .match(1))
      await second.membership.finish(.match(1), result: [9])
      try await second.wait(for: .host(.finished(match.claim)))
      #expect(try await directory.status().finished == 1)
      #expect(
        try await directory.answer(.locate(.match(1), player: .player(1))) == .over(result: [9]))
      await second.membership.withdraw()
      #expect(try await directory.status().hosts.map(\.record) == [first.membership.record])
      await second.readAll()
      #expect(second.events.last == .host(.withdrawn))
      #expect(first.absences == (0, 0) && second.absences == (0, 0))
      await first.membership.withdraw()
      await directory.close()
    }
  }

  @Test func `hosts of a server that has forgotten everything register again with their matches`()
    async throws
  {
    try await RedisServer.withLoop { server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      var changes = directory.changes.makeAsyncIterator()
      let hosts = [
        try await TestHost(.make(1), in: address, on: loop),
        try await TestHost(.make(2, region: "us"), in: address, on: loop),
      ]
      let claim = try await directory.place(PlacementRequest(1, players: 1, near: "eu")).get().claim
      #expect(await hosts[0].membership.admit(.player(1), with: claim) == .accepted)
      _ = try await hosts[0].waitForMatch(.match(1))
      server.stop()
      for host in hosts {
        try await host.wait { event in if case .away = event { true } else { nil } }
      }
      await #expect(throws: RedisError.self) {
        try await directory.place(PlacementRequest(2, players: 2))
      }
      // Matches go on, and the next checkpoint is the one that the new server gets.
      await hosts[0].membership.save(Checkpoint(tick: 60, state: [1, 2])!, of: .match(1))
      try server.start()
      for host in hosts { try await host.wait(for: .back) }
      for host in hosts { try await host.wait(for: .host(.registered)) }
      if case .away = await changes.next() {} else { Issue.record("the directory is not away") }
      #expect(await changes.next() == .back)
      let status = try await directory.status()
      #expect(Set(status.hosts.map(\.record)) == Set(hosts.map(\.membership.record)))
      #expect(status.matches == 1 && status.hosts.map(\.seatsInUse).reduce(0, +) == 1)
      #expect(try await directory.place(PlacementRequest(1, players: 1)).get().claim == claim)
      await hosts[0].membership.drain()
      await hosts[0].membership.move(.match(1), nil)
      let (moved, checkpoint, _) = try await hosts[1].waitForMatch(.match(1))
      #expect(moved.number > claim.number)
      #expect(checkpoint == Checkpoint(tick: 60, state: [1, 2]))
      for host in hosts {
        await host.membership.withdraw()
        await host.readAll()
        #expect(host.absences == (1, 1), "\(host.events)")
      }
      await directory.close()
    }
  }

  @Test func `a host that is cut off gives up the match that another one has taken over`()
    async throws
  {
    try await RedisServer.withLoop { server, loop in
      let relay = CuttableRelay(to: server.endpoint, on: loop)
      let cut = try FleetAddress("redis://\(try await relay.listen())/test")
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      let lost = try await TestHost(.make(1), in: cut, on: loop)
      let other = try await TestHost(.make(2, region: "us"), in: address, on: loop)
      var generator = SystemRandomNumberGenerator()
      let key = BackendKey(using: &generator)
      let placement = try await directory.place(PlacementRequest(1, players: 1, near: "eu")).get()
      let claim = placement.claim
      #expect(await lost.membership.admit(.player(1), with: claim) == .accepted)
      _ = try await lost.waitForMatch(.match(1))
      #expect(try await answered(by: other, key: key) == claim)
      await relay.cut()
      try await lost.wait(for: .host(.leaseEnded))
      #expect(await !lost.membership.isAdmitting)
      #expect(await lost.membership.admit(.player(2), with: claim) == .tryAgain)
      // The player hears nothing, and asks a door until the host counts as dead.
      var answer = try await answered(by: other, key: key)
      while answer == claim {
        try await loop.sleep(until: loop.now + .milliseconds(50))
        answer = try await answered(by: other, key: key)
      }
      let taken = try await other.waitForMatch(.match(1))
      #expect(taken.players == [.player(1)] && taken.claim.number > claim.number)
      #expect(answer == taken.claim)
      // The first renewal that was not answered is a second younger than the last one that was.
      if !lost.events.contains(.away(.timedOut)) { try await lost.wait(for: .away(.timedOut)) }
      await relay.heal()
      let elsewhere = Placement(taken.claim, at: other.membership.record)
      try await lost.wait(for: .host(.lost(claim, to: elsewhere)))
      #expect(lost.absences == (1, 1))
      #expect(await lost.membership.isAdmitting)
      for host in [lost, other] { await host.membership.withdraw() }
      await directory.close()
      await relay.close()
    }
  }

  /// Has a door answer the player of match 1, and returns the claim in the token that it gives.
  private func answered(by door: TestHost, key: BackendKey) async throws -> MatchClaim? {
    let answer = try await door.membership.answer(.player(1), in: .match(1), key: key)
    guard case .moved(let bytes) = answer,
      let content = try ConnectToken(decoding: bytes.span).open(with: key)
    else { return nil }
    #expect(content.player == .player(1))
    return try MatchClaim(decoding: content.data.span)
  }

  @Test func `a door says where a match is, that it is over, or that nobody knows it`() async throws
  {
    try await RedisServer.withLoop { server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      let host = try await TestHost(.make(1), in: address, on: loop)
      let key = BackendKey.random()
      let claim = try await directory.place(PlacementRequest(1, players: 1)).get().claim
      #expect(try await answered(by: host, key: key) == claim)
      let door = host.membership
      #expect(
        try await door.answer(.player(1), in: .match(2), key: key) == .refused(.unknownMatch))
      #expect(await door.admit(.player(1), with: claim) == .accepted)
      await door.finish(.match(1), result: [3])
      try await host.wait(for: .host(.finished(claim)))
      #expect(try await door.answer(.player(1), in: .match(1), key: key) == .over(result: [3]))
      await door.withdraw()
      await #expect(throws: RedisError.self) {
        try await door.answer(.player(1), in: .match(1), key: key)
      }
      await directory.close()
    }
  }

  @Test func `a host finds the endpoints of six other hosts, and its own if there is room`()
    async throws
  {
    try await RedisServer.withLoop { server, loop in
      let address = try server.address()
      var hosts = [try await TestHost(.make(1), in: address, on: loop)]
      let first = hosts[0].membership
      #expect(try await first.findDoors() == first.record.doors)
      hosts.append(try await TestHost(.make(2), in: address, on: loop))
      #expect(
        try await first.findDoors()
          == hosts[1].membership.record.doors + first.record.doors)
      for number in 3...7 {
        hosts.append(try await TestHost(.make(number), in: address, on: loop))
      }
      let others = hosts.dropFirst().flatMap(\.membership.record.doors)
      #expect(Set(try await first.findDoors()) == Set(others) && others.count == 6)
      for host in hosts { await host.membership.withdraw() }
      await #expect(throws: RedisError.self) { try await first.findDoors() }
    }
  }

  /// All of them go out with one renewal.
  @Test func `a host stores the longest checkpoints of as many matches as it can have`()
    async throws
  {
    try await RedisServer.withLoop { server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      let host = try await TestHost(.make(1, seats: 2_000), in: address, on: loop)
      let state = [UInt8](repeating: 7, count: Checkpoint.maximumLength)
      for number in 0..<PlacementRules.matchLimit {
        let claim = try await directory.place(PlacementRequest(number, players: number)).get().claim
        #expect(await host.membership.admit(.player(number), with: claim) == .accepted)
        await host.membership.save(Checkpoint(tick: 1, state: state)!, of: claim.match)
      }
      // Requests are answered in order, so this comes back after all checkpoints.
      let last = MatchID.match(PlacementRules.matchLimit - 1)
      let second = try await TestHost(.make(2, region: "us", seats: 2_000), in: address, on: loop)
      await host.membership.drain()
      await host.membership.move(last, nil)
      let (_, checkpoint, _) = try await second.waitForMatch(last)
      #expect(checkpoint?.state == state)
      for host in [host, second] {
        await host.membership.withdraw()
        await host.readAll()
        #expect(host.absences == (0, 0))
      }
      await directory.close()
    }
  }
}
