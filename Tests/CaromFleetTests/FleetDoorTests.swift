import CaromCore
import CaromCrypto
import CaromFleet
import CaromPlacement
import CaromProtocol
import CaromSession
import CaromTransport
import TestRedis
import Testing

/// What a door answers on its session, and whom.
@Suite(
  .timeLimit(.minutes(1)),
  .enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)))
struct FleetDoorTests {
  private let key = BackendKey.random()

  private func makeDoorToken(
    _ player: TestPlayer, data: [UInt8], doors: [Endpoint], key: BackendKey? = nil,
    age: Duration = .zero
  ) throws -> ConnectToken {
    var generator = SystemRandomNumberGenerator()
    let now = UnixTime(milliseconds: WallClock.milliseconds)
    return try ConnectToken(
      asking: doors.map { RoutedEndpoint($0) }, player: player.info.id,
      lifetime: PlacementRules.doorTokenLifetime, data: data, key: key ?? self.key,
      at: now + (.zero - age), using: &generator)
  }

  /// Returns the reason with which a door refuses the player who comes with this token.
  private func answer(
    to player: TestPlayer, with token: ConnectToken, on loop: NetworkLoop
  ) async throws -> DisconnectReason? {
    do {
      return try await player.join(with: token, on: loop) { _, _ in nil }
    } catch SessionError.refused(let reason) { return reason }
  }

  @Test func `a full host answers a player of any match, and gives nobody's seat away`()
    async throws
  {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      try await TestTable.with("host", in: address, key: key, seats: 1, on: loop) { host in
        let (leo, zoe) = (TestPlayer(1, key: key), TestPlayer(2, key: key))
        let placement = try await directory.place(PlacementRequest(1, players: 1)).get()
        try await leo.join(with: leo.token(for: placement), on: loop) { session, peer in
          _ = try await host.joined()
          let doors = host.record.endpoints
          let own = try makeDoorToken(leo, data: placement.claim.encoded, doors: doors)
          // Again and again with one token: the host has the match, and the player keeps its seat.
          for _ in 0..<2 {
            guard case .moved(let next)? = try await answer(to: leo, with: own, on: loop) else {
              Issue.record("the player was not told where its match is")
              return
            }
            #expect(next.endpoints == doors)
            let content = try #require(next.token?.open(with: key))
            #expect(content.player == .player(1) && content.data == placement.claim.encoded)
          }
          let unknown = MatchClaim(.match(2), host: host.record.id, number: 1)
          let others = try makeDoorToken(zoe, data: unknown.encoded, doors: doors)
          #expect(
            try await answer(to: zoe, with: others, on: loop) == .moved(to: NextHost()))
          // Every seat of the match's host is taken.
          let third = try makeDoorToken(zoe, data: placement.claim.encoded, doors: doors)
          #expect(try await answer(to: zoe, with: third, on: loop) == .full)
          let odd = try makeDoorToken(zoe, data: [1], doors: doors)
          #expect(try await answer(to: zoe, with: odd, on: loop) == .busy)
          #expect(await session.peers == [peer])
          #expect(await host.session.peers.map(\.id) == [.player(1)])
          await host.matches.finish(.match(1), result: [3])
          try await host.wait(for: .finished(.match(1)))
          #expect(try await answer(to: leo, with: own, on: loop) == .finished)
        }
      }
      await directory.close()
    }
  }

  @Test func `a door token is good for three minutes, and another fleet's is not`() async throws {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      try await TestTable.with("host", in: address, key: key, on: loop) { host in
        let leo = TestPlayer(1, key: key)
        let claim = MatchClaim(.match(1), host: host.record.id, number: 1).encoded
        func answer(_ key: BackendKey?, _ age: Duration) async throws -> DisconnectReason? {
          let token = try makeDoorToken(
            leo, data: claim, doors: host.record.endpoints, key: key, age: age)
          return try await self.answer(to: leo, with: token, on: loop)
        }
        // It was made before the host started.
        #expect(try await answer(nil, .seconds(170)) == .moved(to: NextHost()))
        #expect(try await answer(nil, .seconds(181)) == .tokenRefused(.expired))
        server.stop()
        #expect(try await answer(.random(), .zero) == .tokenRefused(.notAuthentic))
        #expect(try await answer(nil, .zero) == .busy)
        try server.start()
      }
    }
  }

  @Test func `a session that belongs to no fleet declines questions`() async throws {
    try await withNetworkLoop { [key] loop in
      let leo = TestPlayer(1, key: key)
      try await Session.host(
        as: PeerInfo(name: "host", application: "hockey"), on: [.loopback4],
        security: .token(keys: [key]), loop: loop
      ) { _, port in
        let token = try makeDoorToken(leo, data: [], doors: [Endpoint(.loopback4, port: port)])
        #expect(
          try await answer(to: leo, with: token, on: loop)
            == .declined("this host is no door of a fleet"))
      }
    }
  }

  @Test func `players are told the doors when they join, and again when the doors change`()
    async throws
  {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      try await TestTable.with("one", in: address, key: key, on: loop) { one in
        let leo = TestPlayer(1, key: key)
        let placement = try await directory.place(PlacementRequest(1, players: 1)).get()
        try await leo.join(with: leo.token(for: placement), on: loop) { session, _ in
          var tokens = session.messages(on: .doorTokens).makeAsyncIterator()
          let first = try #require(await tokens.next()).message.token
          #expect(first.hosts == one.record.endpoints && first.isForDoors)
          #expect(first.open(with: key)?.data == placement.claim.encoded)
          try await TestTable.with("two", in: address, key: key, on: loop) { two in
            let second = try #require(await tokens.next()).message.token
            #expect(second.hosts == two.record.endpoints + one.record.endpoints)
          }
          let third = try #require(await tokens.next()).message.token
          #expect(third.hosts == one.record.endpoints)
        }
      }
      await directory.close()
    }
  }

  @Test func `a message that is no door token is refused`() throws {
    var generator = SystemRandomNumberGenerator()
    let now = UnixTime(milliseconds: WallClock.milliseconds)
    let door = Endpoint(.loopback4, port: 1)
    let good = try makeDoorToken(TestPlayer(1, key: key), data: [], doors: [door]).bytes
    #expect(try DoorToken(decoding: good.span).encoded == good)
    let joining = try ConnectToken(
      for: [door], player: .player(1), lifetime: .seconds(1), key: key, at: now,
      using: &generator)
    let nowhere = try makeDoorToken(TestPlayer(1, key: key), data: [], doors: [])
    let long = good + [UInt8](repeating: 0, count: 400)
    for bytes in [joining.bytes, nowhere.bytes, [], Array(good.prefix(100)), long] {
      #expect(throws: DecodeError.self) { try DoorToken(decoding: bytes.span) }
    }
    for _ in 0..<2_000 {
      var bytes = good
      for _ in 0..<3 {
        bytes[.random(in: bytes.indices, using: &generator)] =
          .random(in: .min ... .max, using: &generator)
      }
      bytes.removeLast(.random(in: 0...40, using: &generator))
      guard let read = try? DoorToken(decoding: bytes.span) else { continue }
      #expect(read.encoded == bytes)
    }
  }
}
