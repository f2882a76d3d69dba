import CaromCore
import CaromFleet
import TestRedis
import Testing

@testable import CaromPlacement

/// The directory in Redis, on a clock that the test sets.
final class RedisDirectoryUnderTest: DirectoryUnderTest {
  private static let clock = #"""
    local function clock() return tonumber(redis.call('GET', 'test:clock')) end
    """#
  private let connection: RedisConnection
  private let fleet = MatchID("test")!
  /// The time that the server's clock shows.
  private var shown: Instant?

  init(_ connection: RedisConnection) async throws {
    self.connection = connection
    let library = RedisFunction.library(clock: Self.clock)
    let answer = try await send("FUNCTION", "LOAD", "REPLACE", library)
    #expect(answer == .bulkString(Array(RedisFunction.name.utf8)))
  }

  @discardableResult
  private func send(_ arguments: String...) async throws -> RESPValue {
    let array = RESPValue.array(arguments.map { .bulkString(Array($0.utf8)) })
    return try await connection.send(array.encoded)
  }

  func answer(_ command: DirectoryCommand, at now: Instant) async throws -> DirectoryAnswer {
    if shown != now { try await send("SET", "test:clock", "\(now.nanoseconds / 1_000_000)") }
    shown = now
    let value = try await connection.send(RedisCommand.encode(command, fleet: fleet))
    return try RedisAnswer.decode(value, to: command)
  }

  func forgetEverything() async throws {
    try await send("FLUSHALL")
    shown = nil
  }
}

@Suite(
  .serialized, .timeLimit(.minutes(5)),
  .enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)))
struct RedisDirectoryTests {
  @Test func `the directory in Redis keeps every rule`() async throws {
    try await RedisServer.withConnection { connection in
      let directory = try await RedisDirectoryUnderTest(connection)
      for rule in DirectoryCase.all {
        try await directory.forgetEverything()
        do { try await rule.body(TestFleet(directory)) } catch {
          Issue.record("\(rule.name): \(error)")
        }
      }
    }
  }

  /// Both directories get the same commands, of which many make no sense.
  @Test func `the directory in Redis answers as the one in memory does`() async throws {
    try await RedisServer.withConnection { connection in
      let directory = try await RedisDirectoryUnderTest(connection)
      for seed in 1...(TestSeeds.limit ?? 6) {
        try await directory.forgetEverything()
        var script = CommandScript(seed: seed)
        var memory = MemoryDirectory()
        for step in 0..<300 {
          let command = script.next()
          let expected = memory.answer(command, at: script.now)
          let answer = try await directory.answer(command, at: script.now)
          script.note(answer)
          guard answer == expected else {
            Issue.record("seed \(seed), step \(step), \(command): \(answer), not \(expected)")
            return
          }
        }
      }
    }
  }

  @Test func `a clock that goes back does not keep the dead alive`() async throws {
    try await RedisServer.withConnection { connection in
      let fleet = TestFleet(try await RedisDirectoryUnderTest(connection))
      let now = fleet.now
      fleet.advance(by: .seconds(3_600))
      let dead = try await fleet.start(1)
      let alive = try await fleet.start(2)
      fleet.now = now
      #expect(try await fleet.status().hosts.count == 2)
      try await fleet.run(alive, for: 3)
      #expect(try await fleet.status().hosts.map(\.record) == [alive.record])
      #expect(try await fleet.seatsInUse(dead) == nil)
    }
  }

  @Test func `a server without the function says so, and gets it`() async throws {
    try await RedisServer.withConnection { connection in
      let fleet = MatchID("rack")!
      let status = RedisCommand.encode(.status, fleet: fleet)
      #expect(
        try await connection.send(status) == .error(Array("ERR Function not found".utf8)))
      #expect(try await connection.send(RedisCommand.listFunction) == .array([]))
      _ = try await connection.send(RedisCommand.loadFunction)
      #expect(try await connection.send(RedisCommand.listFunction) != .array([]))
      let value = try await connection.send(status)
      #expect(
        try RedisAnswer.decode(value, to: .status)
          == .status(FleetStatus(hosts: [], matches: 0, orphans: 0, finished: 0)))
    }
  }

  @Test func `leases end by the server's own clock`() async throws {
    try await RedisServer.withConnection { connection in
      _ = try await connection.send(RedisCommand.loadFunction)
      let record = HostRecord.make(1)
      let sender = CommandSender(record.id, run: 1, connection: 1)
      let register = DirectoryCommand.host(
        .register(HostRegistration(record)), from: sender)
      let place = DirectoryCommand.place(
        PlacementRequest(.match(1), players: [.player(1)], game: .hockey))
      // The commands are sent one after another without waiting for answers in between.
      async let first = connection.send(RedisCommand.encode(register, fleet: .match(0)))
      #expect(
        try RedisAnswer.decode(try await first, to: register)
          == .registered(RegistrationResult()))
      let placed = try await connection.send(RedisCommand.encode(place, fleet: .match(0)))
      let claim = try #require(try RedisAnswer.decode(placed, to: place).claim)
      #expect(claim.host == record.id)
      // Milliseconds since 1970, and after this was written.
      #expect(claim.number > 1_790_000_000_000)
    }
  }
}
