import Foundation
import TestRedis
import Testing

/// What the tables and players of a fleet tell those who run it.
@Suite(.turns, .enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)))
struct FleetOperatorTests {
  private static func start(
    _ arguments: [String], in server: RedisServer, _ backend: TokenBackend
  ) throws -> RunningGame {
    try RunningGame(
      arguments + ["--fleet", server.fleet(), "--key", backend.keyFile, "--json"],
      within: .seconds(100))
  }

  private static func table(
    _ name: String, in server: RedisServer, _ backend: TokenBackend, with more: [String] = []
  ) throws -> RunningGame {
    try start(["host", "--interface", "lo", "--name", name] + more, in: server, backend)
  }

  private static func join(
    as name: String, in server: RedisServer, _ backend: TokenBackend, with more: [String] = []
  ) throws -> RunningGame {
    try start(["join", "m1", "--bot", "--name", name] + more, in: server, backend)
  }

  @Test func `a player waits for the directory and for a table, and says so`() async throws {
    try await RedisServer.with { server in
      let backend = try await TokenBackend()
      defer { backend.end() }
      server.stop()
      let player = try Self.join(as: "Leo", in: server, backend)
      #expect(try await player.line("cannot be reached").hasSuffix(": waiting up to 60 s"))
      try server.start()
      try await player.line("the fleet has no host: waiting up to 60 s")
      let table = try Self.table("T1", in: server, backend)
      try await player.line("T1 sits down")
      await player.process.end()
      #expect(await player.process.status == 0)
      await table.process.end()
    }
  }

  @Test func `a third player of a match is told that it is full`() async throws {
    try await RedisServer.with { server in
      let backend = try await TokenBackend()
      defer { backend.end() }
      let table = try Self.table("T1", in: server, backend)
      try await table.line("in the fleet test as ")
      let players = [
        try Self.join(as: "Leo", in: server, backend),
        try Self.join(as: "Zoe", in: server, backend),
      ]
      for player in players { try await player.line("T1 sits down") }
      let third = try Self.join(as: "Max", in: server, backend, with: ["--patience", "0"])
      #expect(await third.process.status == 69)
      #expect(await third.process.errors.all().last?.contains("match m1 is full") == true)
      for player in players { await player.process.end() }
      await table.process.end()
    }
  }

  @Test func `a table that has to leave its match behind says so, and so do its players`()
    async throws
  {
    try await RedisServer.with { server in
      let backend = try await TokenBackend()
      defer { backend.end() }
      let table = try Self.table("T1", in: server, backend)
      let id = try await table.line("in the fleet test as ").split(separator: " ").last ?? ""
      let player = try Self.join(as: "Leo", in: server, backend)
      try await player.line("game 1 begins")
      let tool = try RunningTool(
        ["fleet", "drain", String(id), "--patience", "1", "--fleet", server.fleet()])
      #expect(await tool.process.status == 0)
      #expect(await tool.process.errors.all().last?.contains("no other host of the fleet") == true)
      try await player.line("the table has ended, and no other one has the match")
      try await table.line("no other table has taken match m1 over: no host has enough free seats")
      #expect(try await table.report().endReason == "1 match left")
      #expect(await table.process.status == 79)
      // A table that comes within a minute at the same port would go on with it.
      await player.process.end()
      #expect(await player.process.status == 0)
    }
  }

  @Test func `a table without a display still tells what is wrong with its fleet`() async throws {
    try await RedisServer.with { server in
      let backend = try await TokenBackend()
      defer { backend.end() }
      server.stop()
      let table = try Self.table("T1", in: server, backend, with: ["--headless"])
      // It has no match that goes on.
      #expect(try await table.line("cannot be reached").hasSuffix(": trying again"))
      try server.start()
      try await table.line("the fleet's directory is back")
      await table.process.end()
      #expect(await table.process.status == 0)
    }
  }
}
