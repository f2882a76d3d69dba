import CaromFleet
import CaromPlacement
import CaromTransport
import Foundation
import TestRedis
import Testing

/// Matches that a fleet places at tables in processes of their own, and moves from one to another.
@Suite(.turns, .enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)))
struct FleetPlayTests {
  /// How the table of a match goes away.
  enum Departure: Sendable, CaseIterable {
    /// An operator drains it.
    case drain
    /// It is told to end.
    case terminate
    /// It dies.
    case kill
  }

  /// How long a program may run. Goals have to be waited for.
  private static let limit = Duration.seconds(150)

  private static func start(
    _ arguments: [String], in server: RedisServer, _ backend: TokenBackend, login: String = ""
  ) throws -> RunningGame {
    try RunningGame(
      arguments + ["--fleet", server.fleet(login: login), "--key", backend.keyFile, "--json"],
      within: limit)
  }

  private static func join(
    as name: String, strength: String, _ server: RedisServer, _ backend: TokenBackend,
    login: String = ""
  ) throws -> RunningGame {
    try start(
      ["join", "m1", "--bot", "--name", name, "--strength", strength], in: server, backend,
      login: login)
  }

  /// Takes the directory away from the players, who have been at it, and are not any more.
  private static func lockOutPlayers(of server: RedisServer) async throws {
    try await withNetworkLoop { loop in
      let connection = try await RedisConnection.open(to: [server.endpoint], on: loop)
      func send(_ words: String...) async throws -> RESPValue {
        let command = RESPValue.array(words.map { .bulkString(Array($0.utf8)) })
        return try await connection.send(command.encoded)
      }
      #expect(try await send("ACL", "SETUSER", "player", "off") == .simpleString(Array("OK".utf8)))
      #expect(try await send("CLIENT", "KILL", "USER", "player") == .integer(0))
      await connection.close()
    }
  }

  /// The score at the end of a line, such as "goal for Leo: 2-1".
  private static func score(in line: String) throws -> (home: Int, away: Int) {
    let numbers = line.split(separator: " ").last?.split(separator: "-").compactMap { Int($0) }
    let score = try #require(numbers, "\(line)")
    try #require(score.count == 2, "\(line)")
    return (score[0], score[1])
  }

  /// Chooses the lines about the goals of game 2, in which Leo and Zoe play each other. It must be
  /// asked about all lines of a player, in their order.
  private final class Goals: Sendable {
    private let state = Locked((hasBegun: false, isOver: false))

    func contains(_ line: String) -> Bool {
      state.withLock { state in
        if line == "game 2 begins" { state.hasBegun = true }
        if state.hasBegun, line.contains(" wins the game ") { state.isOver = true }
        return state.hasBegun && !state.isOver && line.hasPrefix("goal for ")
      }
    }
  }

  /// Waits for a goal of game 2, counted from 1, and returns the line about it.
  @discardableResult
  private static func goal(_ number: Int, of game: RunningGame) async throws -> String {
    let goals = Goals()
    return try #require(await game.process.errors.line(number) { goals.contains($0) })
  }

  /// Waits for a goal that a table tells after a line with `text`.
  private static func goal(ofTable table: RunningGame, after text: String) async throws {
    let wasSaid = Locked(false)
    let line = await table.process.errors.line { line in
      wasSaid.withLock {
        if line.contains(text) { $0 = true }
        return $0 && line.hasPrefix("goal for ")
      }
    }
    guard line == nil else { return }
    Issue.record("no goal after '\(text)' in \(await table.process.errors.all())")
  }

  /// Expects that each goal of game 2 was told once, so that the score has grown by one each time.
  private static func expectGoalsOnce(of player: RunningGame) async throws {
    let goals = Goals()
    let lines = await player.process.errors.all().filter(goals.contains)
    for (index, line) in lines.enumerated() {
      let score = try score(in: line)
      #expect(score.home + score.away == index + 1, "\(line)")
    }
  }

  @Test(arguments: Departure.allCases)
  func `a match goes on at another table, with its players and score`(
    departure: Departure
  ) async throws {
    try await RedisServer.with("--user", "player", "on", ">secret", "~*", "+@all") { server in
      let backend = try await TokenBackend()
      defer { backend.end() }
      let login = "player:secret@"
      var tables: [String: (game: RunningGame, id: String)] = [:]
      for name in ["T1", "T2"] {
        let game = try Self.start(
          ["host", "--interface", "lo", "--name", name], in: server, backend)
        let line = try await game.line("in the fleet test as ")
        tables[name] = (game, String(try #require(line.split(separator: " ").last)))
      }
      let leo = try Self.join(as: "Leo", strength: "hard", server, backend, login: login)
      // Zoe takes the seat of the computer player, so that another match begins at 0-0.
      try await leo.line("game 1 begins")
      let players = [
        leo, try Self.join(as: "Zoe", strength: "easy", server, backend, login: login),
      ]
      let line = try await Self.goal(1, of: leo)
      let first = try Self.score(in: line)
      #expect(first.home + first.away == 1)
      let seated = try await players[0].line("sits down")
      // From now on, the players have the doors alone.
      try await Self.lockOutPlayers(of: server)
      let table = try #require(tables[String(seated.prefix(2))])
      let other = try #require(tables[seated.hasPrefix("T1") ? "T2" : "T1"])
      switch departure {
      case .drain:
        let tool = try RunningTool(["fleet", "drain", table.id, "--fleet", server.fleet()])
        #expect(await tool.process.status == 0)
      case .terminate: table.game.process.signal(SIGTERM)
      case .kill: table.game.process.signal(SIGKILL)
      }
      // Another goal may have fallen in the meantime: the score is checked below.
      try await other.game.line("match m1 goes on at this table at ")
      for player in players {
        let line = try await player.line("sits down", 2)
        #expect(line.prefix(2) != seated.prefix(2))
        try await player.line("game 2 stands at ")
      }
      if departure == .kill {
        #expect(await table.game.process.status == 128 + SIGKILL)
      } else {
        #expect(try await table.game.report().endReason == "drained")
        #expect(await table.game.process.status == 0)
      }
      let stand = try Self.score(in: try await players[0].line("game 2 stands at "))
      let count = stand.home + stand.away
      #expect(stand.home >= first.home && stand.away >= first.away)
      // Play goes on.
      for player in players { try await Self.goal(count + 1, of: player) }
      for player in players { await player.process.end() }
      for player in players {
        let report = try await player.report()
        #expect(report.role == "client" && report.endReason == "interrupted")
        #expect(report.security == "token" && report.desyncs == 0)
        // A table that ends on purpose says where to go, so that nobody has to ask.
        let asked = await player.process.errors.all().contains { $0.contains("asking the fleet") }
        #expect(asked == (departure == .kill))
        try await Self.expectGoalsOnce(of: player)
      }
      // A match that both players have left is over, and the table can be drained at once.
      try await other.game.line("match m1 is over at ")
      await other.game.process.end()
      #expect(try await other.game.report().endReason == "drained")
    }
  }

  @Test func `a match for which no other table has room goes on until its table ends`()
    async throws
  {
    try await RedisServer.with { server in
      let backend = try await TokenBackend()
      defer { backend.end() }
      let table = try Self.start(
        ["host", "--interface", "lo", "--name", "T1"], in: server, backend)
      let id = try await table.line("in the fleet test as ").split(separator: " ").last ?? ""
      let player = try Self.join(as: "Leo", strength: "hard", server, backend)
      try await player.line("game 1 begins")
      let tool = try RunningTool(["fleet", "drain", String(id), "--fleet", server.fleet()])
      #expect(await tool.process.status == 0)
      try await table.line("the match stays here: ")
      // It goes on while the directory is away, too.
      server.stop()
      try await Self.goal(ofTable: table, after: "the match goes on")
      try server.start()
      try await table.line("the fleet's directory is back")
      // A table that comes later takes the match over.
      let other = try Self.start(
        ["host", "--interface", "lo", "--name", "T2"], in: server, backend)
      try await other.line("match m1 goes on at this table")
      try await player.line("sits down", 2)
      let report = try await table.report()
      #expect(report.endReason == "drained" && report.score != "0-0")
      // It asks again and again, and says it once.
      let lines = await table.process.errors.all().filter { $0.contains("match stays here") }
      #expect(Set(lines).count == lines.count, "\(lines)")
      await player.process.end()
      try await other.line("match m1 is over at ")
      await other.process.end()
    }
  }

  @Test func `a table with another key than the fleet's ends, and says so`() async throws {
    try await RedisServer.with { server in
      let backends = [try await TokenBackend(), try await TokenBackend()]
      defer { for backend in backends { backend.end() } }
      let table = try Self.start(
        ["host", "--interface", "lo", "--name", "T1"], in: server, backends[0])
      try await table.line("in the fleet test as ")
      let other = try Self.start(
        ["host", "--interface", "lo", "--name", "T2"], in: server, backends[1])
      #expect(await other.process.status == 77)
      #expect(await other.process.output.all().last?.contains("not in the fleet: ") == true)
      await table.process.end()
    }
  }

  @Test func `a player says in a line why the fleet cannot help`() async throws {
    let backend = try await TokenBackend()
    defer { backend.end() }
    try await RedisServer.with { server in
      let join = ["join", "m1", "--bot", "--patience", "0"]
      let alone = try Self.start(join, in: server, backend)
      #expect(await alone.process.status == 69)
      #expect(await alone.process.errors.all().last?.contains("the fleet has no host: ") == true)
      server.stop()
      let lost = try Self.start(join, in: server, backend)
      #expect(await lost.process.status == 68)
      #expect(await lost.process.errors.all().last?.contains("directory") == true)
    }
  }

  @Test(arguments: [
    ["host", "--fleet", "redis://h/n"], ["join", "m1", "--fleet", "redis://h/n"],
    ["host", "--fleet", "redis://h/n", "--security", "none"],
    ["join", "m1", "--fleet", "redis://h/n", "--key", "x", "--key", "y"],
    ["join", "m1", "--fleet", "redis://h/n", "--key", "x", "--routing-suffix", "a1"],
    ["host", "--password-file", "x"], ["join", "m1", "--password-file", "x"],
    ["join", "m1", "--fleet", "redis://h/n", "--token", "x"],
    ["join", "m1", "--fleet", "redis://h/n", "--key", "x", "--yield"],
    ["host", "--fleet", "redis://h/n", "--key", "x", "--opponent"],
    ["host", "--fleet", "redis://h/n", "--key", "x", "--region", "no spaces"],
    ["host", "--fleet", "http://h/n", "--key", "x"],
  ])
  func `options that do not fit to a fleet are refused`(arguments: [String]) async throws {
    let game = try await GameProcess.run(arguments)
    #expect(game.status == 64 && game.errors.count == 1, "\(game)")
  }
}
