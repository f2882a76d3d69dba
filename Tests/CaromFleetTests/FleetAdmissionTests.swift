import CaromCore
import CaromCrypto
import CaromFleet
import CaromPlacement
import CaromSession
import CaromTransport
import TestRedis
import Testing

/// Whom a fleet lets in, at a real server.
@Suite(
  .timeLimit(.minutes(1)),
  .enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)))
struct FleetAdmissionTests {
  private let key = BackendKey.random()

  @Test func `a host with another key is told so, and leaves, and nothing is placed with that key`()
    async throws
  {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      try await TestTable.with("first", in: address, key: key, on: loop) { first in
        let other = BackendKey.random()
        try await TestTable.with("other", in: address, key: other, isLetIn: false, on: loop) {
          table in
          try await table.wait(for: .left(because: .otherKey))
          #expect(table.events == [.refused(.otherKey), .left(because: .otherKey)])
        }
        #expect(try await directory.status().hosts.map(\.record) == [first.record])
        let players = [PeerID.player(1)]
        let refused = try await directory.place(.match(1), for: players, of: .hockey, key: other)
        #expect(refused == .failure(.otherKey))
        let placed = try await directory.place(.match(1), for: players, of: .hockey, key: key)
        #expect(try placed.get()[0].hosts == first.record.endpoints)
      }
      await directory.close()
    }
  }

  @Test func `a second process with a host's identity is told so, and the first one plays on`()
    async throws
  {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      let identity = Identity.random()
      try await TestTable.with("first", in: address, key: key, as: identity, on: loop) { first in
        let placement = try await directory.place(PlacementRequest(1, players: 1)).get()
        let player = TestPlayer(1, key: key)
        try await player.join(with: player.token(for: placement), on: loop) { _, _ in
          try await first.wait(for: .began(.match(1), nil, players: [.player(1)]))
          try await TestTable.with(
            "second", in: address, key: key, as: identity, isLetIn: false, on: loop
          ) { second in
            try await second.wait(for: .left(because: .identityInUse))
            #expect(
              second.events == [.refused(.identityInUse), .left(because: .identityInUse)])
          }
          let status = try await directory.status()
          #expect(status.hosts.map(\.record) == [first.record] && status.matches == 1)
        }
      }
      await directory.close()
    }
  }

  @Test func `a host that starts again after a crash waits until the lease has ended`()
    async throws
  {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let identity = Identity.random()
      let record = HostRecord(
        key: identity.publicKey, endpoints: [Endpoint(.loopback4, port: 7)], region: "eu",
        game: .hockey, seats: 8)
      // A process that has registered, and is not heard of any more.
      let directory = FleetDirectory(address, on: loop)
      let dead = CommandSender(record.id, run: 1, connection: 1)
      let registration = HostRegistration(record, keys: HostKeys([key.fingerprint]))
      let answer = try await directory.answer(.host(.register(registration), from: dead))
      #expect(answer == .registered(RegistrationResult()))
      try await TestTable.with(
        "again", in: address, key: key, as: identity, isLetIn: false, on: loop
      ) { table in
        try await table.wait(for: .registered)
        #expect(table.events == [.registered])
      }
      await directory.close()
    }
  }

  /// The commands of a Redis user that hosts, doors and matchmakers need. The page Fleets has them.
  private static let permissions = [
    "+fcall", "+function|list", "+function|load", "+time", "+exists", "+del", "+hexists", "+hget",
    "+hmget", "+hset", "+hdel", "+hincrby", "+hkeys", "+zadd", "+zrem", "+zcard", "+zscore",
    "+zrange", "+zrangebyscore", "+zrangebylex",
  ]

  private static func send(
    _ words: [String], to server: RedisServer, on loop: NetworkLoop
  ) async throws -> RESPValue {
    let connection = try await RedisConnection.open(to: [server.endpoint], on: loop)
    let command = RESPValue.array(words.map { .bulkString(Array($0.utf8)) })
    let answer = try await connection.send(command.encoded)
    await connection.close()
    return answer
  }

  @Test func `a Redis user with the permissions of the page can do all that a fleet does`()
    async throws
  {
    try await RedisServer.withLoop { [key] server, loop in
      let user = ["ACL", "SETUSER", "carom", "on", ">secret", "~carom:{test}:*"]
      #expect(
        try await Self.send(user + Self.permissions, to: server, on: loop)
          == .simpleString(Array("OK".utf8)))
      let address = try server.address(login: "carom:secret@")
      let directory = FleetDirectory(address, on: loop)
      try await TestTable.with("old", in: address, key: key, on: loop) { old in
        try await TestTable.with("new", in: address, key: key, on: loop) { new in
          let request = PlacementRequest(1, players: 1, 2)
          let placement = try await directory.place(request).get()
          let (host, other) = placement.host == old.record ? (old, new) : (new, old)
          let player = TestPlayer(1, key: key)
          try await player.join(with: player.token(for: placement), on: loop) { _, _ in
            try await host.wait(for: .began(.match(1), nil, players: [.player(1), .player(2)]))
            let checkpoint = try #require(Checkpoint(tick: 1, state: [1]))
            await host.matches.save(checkpoint, of: .match(1), isUrgent: true)
            #expect(try await directory.drain(host.record.id, patience: .seconds(60)))
            try await host.wait(for: .drainRequested)
            await host.matches.move(.match(1), checkpoint)
            try await host.wait(for: .moved(.match(1)))
          }
          try await other.wait(
            for: .began(.match(1), checkpoint(1), players: [.player(1), .player(2)]))
          await other.matches.finish(.match(1), result: [7])
          try await other.wait(for: .finished(.match(1)))
          #expect(try await directory.result(of: .match(1)) == [7])
        }
      }
      #expect(try await directory.status().hosts.isEmpty)
      await directory.close()
    }
  }

  private func checkpoint(_ tick: UInt64) -> Checkpoint? { Checkpoint(tick: tick, state: [1]) }

  @Test func `a permission that is missing is named`() async throws {
    try await RedisServer.withLoop { server, loop in
      for (removed, name) in [
        ("-fcall", "the command FCALL"), ("-function|list", "the command FUNCTION LIST"),
        ("-function|load", "the command FUNCTION LOAD"), ("-time", "the command TIME"),
        ("-zrangebyscore", "the command ZRANGEBYSCORE"), ("-zcard", "the command ZCARD"),
      ] {
        _ = try await Self.send(["FUNCTION", "FLUSH"], to: server, on: loop)
        _ = try await Self.send(
          ["ACL", "SETUSER", "carom", "reset", "on", ">secret", "~carom:{test}:*"]
            + Self.permissions + [removed], to: server, on: loop)
        let directory = FleetDirectory(try server.address(login: "carom:secret@"), on: loop)
        await #expect(throws: RedisError.notPermitted(name)) { try await directory.status() }
        await directory.close()
      }
      #expect(RedisError.notPermitted("the command TIME").description.contains("TIME"))
    }
  }
}
