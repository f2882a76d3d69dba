import CaromCore
import CaromCrypto
import CaromFleet
import CaromPlacement
import CaromProtocol
import CaromSession
import CaromTransport
import TestRedis
import Testing

/// Real sessions whose matches a fleet places and moves.
@Suite(
  .timeLimit(.minutes(1)),
  .enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)))
struct FleetMatchesTests {
  private let key = BackendKey.random()

  @Test func `the players of a host that drains follow their match to another host`()
    async throws
  {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      try await TestTable.with("old", in: address, key: key, on: loop) { old in
        let placement = try await directory.place(PlacementRequest(1, players: 1, 2)).get()
        try await TestTable.with("new", in: address, key: key, on: loop) { new in
          let players = [TestPlayer(1, key: key), TestPlayer(2, key: key)]
          try await players[0].join(with: players[0].token(for: placement), on: loop) { one, _ in
            try await players[1].join(with: players[1].token(for: placement), on: loop) { two, _ in
              for _ in players { _ = try await old.joined() }
              try await old.wait(for: .began(.match(1), nil, players: players.map(\.info.id)))
              let checkpoint = try #require(Checkpoint(tick: 9, state: [7]))
              await old.matches.drain()
              await old.matches.move(.match(1), checkpoint)
              try await old.wait(for: .moved(.match(1)))
              try await new.wait(
                for: .began(.match(1), checkpoint, players: players.map(\.info.id)))
              for (player, session) in zip(players, [one, two]) {
                guard case .moved(let next)? = await session.ending() else {
                  Issue.record("the player was not moved")
                  return
                }
                #expect(next.endpoints == new.record.endpoints)
                try await session.follow(to: next) { _, host in
                  #expect(host.name == "new")
                  let peer = try await new.joined()
                  #expect(peer.id == player.info.id)
                  try await directory.wait { status in
                    let hosts = status.hosts.map { ($0.record, $0.isDraining, $0.matches) }
                    return hosts.contains { $0 == (old.record, true, 0) }
                      && hosts.contains { $0 == (new.record, false, 1) }
                  }
                }
              }
              // Both have left the new host for good, and give their seats back.
              try await directory.wait { $0.hosts.allSatisfy { $0.seatsInUse == 0 } }
            }
          }
        }
      }
      await directory.close()
    }
  }

  @Test func `a checkpoint is saved, and players are told that their match is over`() async throws {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      try await TestTable.with("table", in: address, key: key, on: loop) { table in
        let placement = try await directory.place(PlacementRequest(1, players: 1)).get()
        let player = TestPlayer(1, key: key)
        try await player.join(with: player.token(for: placement), on: loop) { session, _ in
          try await table.wait(for: .began(.match(1), nil, players: [.player(1)]))
          #expect(await table.matches.savedTick(of: .match(1)) == nil)
          let checkpoint = try #require(Checkpoint(tick: 9, state: [7]))
          await table.matches.save(checkpoint, of: .match(1), isUrgent: true)
          // The host has a connection of its own.
          while await table.matches.savedTick(of: .match(1)) != 9 {
            _ = try await directory.status()
          }
          await table.matches.finish(.match(1), result: [3])
          let ending = await session.ending()
          #expect(ending == .finished)
          try await table.wait(for: .finished(.match(1)))
        }
      }
      await directory.close()
    }
  }

  @Test func `that the last player has left is told even if the match has not begun`()
    async throws
  {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      try await TestTable.with("table", in: address, key: key, on: loop) { table in
        let placement = try await directory.place(PlacementRequest(1, players: 1)).get()
        await directory.close()
        // The host admits players while it has its lease, and a match begins when the directory has
        // told its checkpoint.
        server.stop()
        let player = TestPlayer(1, key: key)
        try await player.join(with: player.token(for: placement), on: loop) { _, _ in }
        try server.start()
        try await table.wait { event in
          if case .began(.match(1), nil, _) = event { () } else { nil }
        }
        try await table.wait { event in
          if case .emptied(.match(1), _) = event { () } else { nil }
        }
      }
    }
  }

  @Test func `a host whose thread is held up tells the fleet so`() async throws {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      try await TestTable.with("table", in: address, key: key, on: loop) { _ in
        let ticker = Ticker(on: loop, hertz: 100) { _ in
          let begin = loop.now
          while begin.duration(to: loop.now) < .milliseconds(25) {}
        }
        try await directory.wait { status in
          guard let load = status.hosts.first?.load else { return false }
          // Each tick takes the time of two and a half.
          return load.isOverloaded && load.lateTicks >= 300 && load.processor >= 300
        }
        ticker.stop()
      }
      await directory.close()
    }
  }

  @Test func `a match that no other host has room for stays, and moves later`() async throws {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      try await TestTable.with("old", in: address, key: key, on: loop) { old in
        let placement = try await directory.place(PlacementRequest(1, players: 1)).get()
        let player = TestPlayer(1, key: key)
        try await player.join(with: player.token(for: placement), on: loop) { session, _ in
          try await old.wait(for: .began(.match(1), nil, players: [.player(1)]))
          #expect(try await directory.drain(old.record.id))
          try await old.wait(for: .drainRequested)
          await old.matches.move(.match(1), nil)
          try await old.wait(for: .notMoved(.match(1), .noRoom))
          try await TestTable.with("new", in: address, key: key, on: loop) { new in
            await old.matches.move(.match(1), nil)
            try await old.wait(for: .moved(.match(1)))
            #expect(
              await session.ending().map { if case .moved = $0 { true } else { false } } == true)
            try await new.wait(for: .began(.match(1), nil, players: [.player(1)]))
          }
        }
      }
      await directory.close()
    }
  }

  @Test func `a match whose last player has left is told with the time`() async throws {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      try await TestTable.with("one", in: address, key: key, on: loop) { table in
        let placement = try await directory.place(PlacementRequest(1, players: 1, 2)).get()
        let players = [TestPlayer(1, key: key), TestPlayer(2, key: key)]
        for round in 0..<2 {
          try await players[0].join(with: players[0].token(for: placement), on: loop) { _, _ in
            try await players[1].join(with: players[1].token(for: placement), on: loop) { _, _ in
              for _ in players { _ = try await table.joined() }
              if round == 0 {
                try await table.wait(for: .began(.match(1), nil, players: players.map(\.info.id)))
              }
            }
          }
          let before = loop.now
          let time = try await table.wait { event -> Instant? in
            guard case .emptied(.match(1), at: let time) = event else { return nil }
            return time
          }
          #expect(time <= loop.now && time + .seconds(10) > before)
        }
        let emptied = table.events.count { if case .emptied = $0 { true } else { false } }
        #expect(emptied == 2)
      }
      await directory.close()
    }
  }

  @Test func `a drain ends after its patience, with the matches that are left`() async throws {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      try await TestTable.with("last", in: address, key: key, on: loop) { table in
        let placement = try await directory.place(PlacementRequest(1, players: 1)).get()
        let player = TestPlayer(1, key: key)
        try await player.join(with: player.token(for: placement), on: loop) { session, _ in
          try await table.wait(for: .began(.match(1), nil, players: [.player(1)]))
          #expect(try await directory.drain(table.record.id, patience: .milliseconds(10)))
          try await table.wait(for: .patienceEnded([.match(1)]))
          // The host's own program can set another end.
          await table.matches.drain(patience: .milliseconds(5))
          try await table.wait(for: .patienceEnded([.match(1)]))
          let drains = table.events.count { $0 == .drainRequested }
          #expect(drains == 1)
        }
      }
      await directory.close()
    }
  }

  @Test func `a host of one match at a time has others moved, and declines their players`()
    async throws
  {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      try await TestTable.with("one", in: address, key: key, takesOneMatch: true, on: loop) {
        one in
        let first = try await directory.place(PlacementRequest(1, players: 1)).get()
        let (player, other) = (TestPlayer(1, key: key), TestPlayer(2, key: key))
        try await player.join(with: player.token(for: first), on: loop) { _, _ in
          let second = try await directory.place(PlacementRequest(2, players: 2)).get()
          #expect(second.host == one.record)
          let declined = SessionError.refused(.declined("another match is played here"))
          await #expect(throws: declined) {
            try await other.join(with: other.token(for: second), on: loop) { _, _ in }
          }
          try await TestTable.with("two", in: address, key: key, on: loop) { two in
            try await two.wait(for: .began(.match(2), nil, players: [.player(2)]))
            #expect(one.events.allSatisfy { $0 != .moved(.match(2)) })
          }
        }
      }
      await directory.close()
    }
  }

  @Test func `a gate declines those who come too early, and without a match's token`()
    async throws
  {
    let gate = FleetGate()
    #expect(gate.admit(TestPlayer(1, key: key).info) != .accept)
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      try await TestTable.with("table", in: address, key: key, on: loop) { table in
        var generator = SystemRandomNumberGenerator()
        let token = try ConnectToken(
          for: table.record.endpoints, player: .player(1), lifetime: .seconds(10), data: [1],
          key: key, at: UnixTime(milliseconds: WallClock.milliseconds), using: &generator)
        let reason = "the connect token is not for a match of a fleet"
        await #expect(throws: SessionError.refused(.declined(reason))) {
          try await TestPlayer(1, key: key).join(with: token, on: loop) { _, _ in }
        }
        let elsewhere = Placement(
          MatchClaim(.match(1), host: .player(9), number: 1), at: table.record)
        let player = TestPlayer(2, key: key)
        await #expect(
          throws: SessionError.refused(.declined("the connect token is for another host"))
        ) {
          try await player.join(with: player.token(for: elsewhere), on: loop) { _, _ in }
        }
      }
    }
  }

  @Test func `a player who joins another match of the host gives up the seat in the first`()
    async throws
  {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      let player = TestPlayer(1, key: key)
      try await TestTable.with("table", in: address, key: key, on: loop) { table in
        let first = try await directory.place(PlacementRequest(1, players: 1)).get()
        let second = try await directory.place(PlacementRequest(2, players: 1)).get()
        try await player.join(with: player.token(for: first), on: loop) { one, _ in
          _ = try await table.joined()
          try await player.join(with: player.token(for: second), on: loop) { _, _ in
            let ending = await one.ending()
            #expect(ending == .replaced)
            try await directory.wait { $0.hosts.map(\.seatsInUse) == [1] }
          }
        }
      }
      await directory.close()
    }
  }

  @Test func `players of a host that leaves without having moved their match are told so`()
    async throws
  {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      let player = TestPlayer(1, key: key)
      try await TestTable.with("table", in: address, key: key, on: loop) { table in
        let placement = try await directory.place(PlacementRequest(1, players: 1)).get()
        try await player.join(with: player.token(for: placement), on: loop) { session, _ in
          try await table.wait(for: .began(.match(1), nil, players: [.player(1)]))
          await table.matches.withdraw()
          try await table.wait(for: .left(because: nil))
          let ending = await session.ending()
          #expect(ending == .left)
        }
      }
      #expect(try await directory.status().orphans == 1)
      await directory.close()
    }
  }
}
