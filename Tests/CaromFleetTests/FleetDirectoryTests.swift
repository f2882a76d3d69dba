import CaromCore
import CaromFleet
import CaromPlacement
import CaromTransport
import TestRedis
import Testing

@Suite(
  .timeLimit(.minutes(1)),
  .enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)))
struct FleetDirectoryTests {
  private static let empty = FleetStatus(hosts: [], matches: 0, orphans: 0, finished: 0)

  private static func send(_ words: String..., to server: RedisServer, on loop: NetworkLoop)
    async throws -> RESPValue
  {
    let connection = try await RedisConnection.open(to: [server.endpoint], on: loop)
    let command = RESPValue.array(words.map { .bulkString(Array($0.utf8)) })
    let answer = try await connection.send(command.encoded)
    await connection.close()
    return answer
  }

  /// Expects that the directory cannot be used, and that the error shows no secret.
  private static func expect(
    _ error: RedisError, of address: FleetAddress, on loop: NetworkLoop
  ) async {
    let directory = FleetDirectory(address, on: loop)
    for _ in 0..<2 {
      do throws(RedisError) {
        _ = try await directory.status()
        Issue.record("no \(error)")
      } catch let thrown {
        #expect(thrown == error)
        #expect(!"\(thrown) \(String(reflecting: thrown))".contains("secret"))
      }
    }
    await directory.close()
  }

  @Test func `a directory that was lost is told away once, and back once`() async throws {
    try await RedisServer.withLoop { server, loop in
      let directory = FleetDirectory(try server.address(), on: loop)
      var changes = directory.changes.makeAsyncIterator()
      #expect(try await directory.status() == Self.empty)
      server.stop()
      guard case .away(let reason) = await changes.next() else {
        Issue.record("the directory is not away")
        return
      }
      for _ in 0..<3 {
        await #expect(throws: RedisError.self) { try await directory.status() }
      }
      guard case .transport = reason else {
        Issue.record("\(reason)")
        return
      }
      try server.start()
      #expect(await changes.next() == .back)
      #expect(try await directory.status() == Self.empty)
      await directory.close()
      #expect(await changes.next() == nil)
      await #expect(throws: RedisError.transport(.closed)) { try await directory.status() }
    }
  }

  @Test func `a directory that cannot be reached at first is told away once, and back once`()
    async throws
  {
    try await RedisServer.withLoop { server, loop in
      server.stop()
      let directory = FleetDirectory(try server.address(), on: loop)
      var changes = directory.changes.makeAsyncIterator()
      for _ in 0..<2 {
        await #expect(throws: RedisError.transport(.connectionRefused)) {
          try await directory.status()
        }
      }
      #expect(await changes.next() == .away(.transport(.connectionRefused)))
      try server.start()
      #expect(await changes.next() == .back)
      #expect(try await directory.status() == Self.empty)
      await directory.close()
      #expect(await changes.next() == nil)
    }
  }

  @Test func `a function that somebody has removed is installed again`() async throws {
    try await RedisServer.withLoop { server, loop in
      let directory = FleetDirectory(try server.address(), on: loop)
      var changes = directory.changes.makeAsyncIterator()
      #expect(try await directory.status() == Self.empty)
      _ = try await Self.send("FUNCTION", "FLUSH", to: server, on: loop)
      await #expect(throws: RedisError.functionMissing) { try await directory.status() }
      #expect(await changes.next() == .away(.functionMissing))
      #expect(await changes.next() == .back)
      #expect(try await directory.status() == Self.empty)
      await directory.close()
    }
  }

  /// Another program may have a newer text of the function, which must not be replaced.
  @Test func `a function that is there is left alone`() async throws {
    try await RedisServer.withLoop { server, loop in
      let library = """
        #!lua name=\(RedisFunction.name)
        redis.register_function('\(RedisFunction.name)', function() return {'done'} end)
        """
      _ = try await Self.send("FUNCTION", "LOAD", library, to: server, on: loop)
      let directory = FleetDirectory(try server.address(), on: loop)
      #expect(try await directory.answer(.status) == .done)
      await directory.close()
    }
  }

  @Test func `a refusal is told apart by what the fleet has`() async throws {
    try await RedisServer.withLoop { server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      func obstacle(_ match: Int, _ version: String) async throws -> PlacementObstacle? {
        let game = GameVersion("air-hockey", version)
        let request = PlacementRequest(.match(match), players: [.random()], game: game)
        switch try await directory.place(request) {
        case .success: return nil
        case .failure(let refusal):
          return try await directory.findObstacle(to: .match(match), of: game, refusal)
        }
      }
      #expect(try await obstacle(1, "1") == .noHost)
      let host = try await TestHost(.make(1, seats: 1), in: address, on: loop)
      let other = GameVersion("air-hockey", "2")
      #expect(try await obstacle(1, "2") == .otherVersions([.hockey], not: other))
      #expect(try await obstacle(1, "1") == nil)
      #expect(try await obstacle(1, "1") == .matchFull(.match(1)))
      #expect(try await obstacle(2, "1") == .hostsFull)
      #expect(try await obstacle(1, "2") == .refused(.otherVersion))
      await host.membership.withdraw()
      await directory.close()
    }
  }

  @Test func `a program logs in with a password, and errors show none`() async throws {
    let options = [
      "--requirepass", "secret/1",
      "--user", "maya", "on", ">secret-2", "~carom:{test}:*", "+@all",
      "--user", "leo", "on", ">secret-3", "~*", "+@all", "-function",
    ]
    let server = try RedisServer(options)
    defer { server.stop() }
    try await withNetworkLoop { loop in
      for login in [":secret%2F1@", "default:secret%2F1@", "maya:secret-2@"] {
        let directory = FleetDirectory(try server.address(login: login), on: loop)
        #expect(try await directory.status() == Self.empty)
        await directory.close()
      }
      await Self.expect(.passwordRequired, of: try server.address(), on: loop)
      for login in [":secret@", "maya:secret@", "nobody:secret@"] {
        await Self.expect(.passwordRejected, of: try server.address(login: login), on: loop)
      }
      let leo = try server.address(login: "leo:secret-3@")
      await Self.expect(.notPermitted("the command FUNCTION LIST"), of: leo, on: loop)
      let other = try FleetAddress(server.fleet("other", login: "maya:secret-2@"))
      await Self.expect(.notPermitted("the keys of this fleet"), of: other, on: loop)
    }
  }

  @Test func `a password is not accepted by a server that has none`() async throws {
    try await RedisServer.withLoop { server, loop in
      let address = try server.address(login: ":secret@")
      await Self.expect(.passwordRejected, of: address, on: loop)
    }
  }

  @Test(
    arguments: [
      ("HTTP/1.1 400 Bad Request\r\n", .webServer),
      ("<!DOCTYPE HTML><title>Error</title>", .webServer),
      ("220 mail.example ESMTP", .malformed(.invalid(what: "type of a value"))),
      ("-ERR unknown command `FUNCTION`", .functionsUnsupported),
      ("-LOADING Redis is loading", .loading),
    ] as [(String, RedisError)])
  func `a server that is no directory is told by its answer`(
    answer: String, error: RedisError
  ) async throws {
    try await withNetworkLoop { loop in
      let server = AnsweringServer(answer, on: loop)
      let endpoint = try await server.listen()
      await Self.expect(error, of: try FleetAddress("redis://\(endpoint)/test"), on: loop)
      await server.close()
    }
  }

  @Test func `a server that is away for several attempts is told away once`() async throws {
    try await withNetworkLoop { loop in
      let server = AnsweringServer("-ERR", on: loop)
      let address = try FleetAddress("redis://\(try await server.listen())/test")
      let directory = FleetDirectory(address, on: loop)
      await #expect(throws: RedisError.failed(message: "ERR")) { try await directory.status() }
      let host = FleetMembership(of: .make(1), in: address, keys: [], on: loop)
      await host.join()
      await server.waitForConnections(6)
      await directory.close()
      await host.withdraw()
      var changes: [FleetDirectory.Change] = []
      for await change in directory.changes { changes.append(change) }
      #expect(changes == [.away(.failed(message: "ERR"))])
      var events: [FleetMembership.Event] = []
      for await event in host.events { events.append(event) }
      #expect(events == [.away(.failed(message: "ERR")), .host(.withdrawn)])
      await server.close()
    }
  }

  @Test func `what has become of a match is told, and its result for a minute`() async throws {
    try await RedisServer.withLoop { server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      #expect(try await directory.status(of: .match(1)) == nil)
      let host = try await TestHost(.make(1), in: address, on: loop)
      let placement = try await directory.place(PlacementRequest(1, players: 1)).get()
      #expect(try await directory.status(of: .match(1)) == .hosted(placement))
      #expect(try await directory.result(of: .match(1)) == nil)
      let claim = placement.claim
      #expect(await host.membership.admit(.player(1), with: claim) == .accepted)
      await host.membership.finish(.match(1), result: [1, 2])
      try await host.wait(for: .host(.finished(claim)))
      #expect(try await directory.status(of: .match(1)) == .over(result: [1, 2]))
      #expect(try await directory.result(of: .match(1)) == [1, 2])
      await host.membership.withdraw()
      await directory.close()
    }
  }

  @Test func `a command fails when its directory is closed`() async throws {
    try await withNetworkLoop { loop in
      let server = AnsweringServer("", on: loop)
      let endpoint = try await server.listen()
      let directory = FleetDirectory(try FleetAddress("redis://\(endpoint)/test"), on: loop)
      let status = Task { try await directory.status() }
      await server.waitForConnections(1)
      await directory.close()
      await #expect(throws: RedisError.transport(.closed)) { try await status.value }
      await server.close()
    }
  }
}
