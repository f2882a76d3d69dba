import CaromCore
import CaromCrypto
import CaromFleet
import CaromPlacement
import CaromTransport
import Foundation
import TestRedis
import Testing

/// Runs `carom fleet` against hosts of this process and a real Redis server.
@Suite(.turns, .enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)))
struct ToolFleetTests {
  private static let game = ["--game", "air-hockey", "--game-version", "3"]

  private static func record(_ number: Int, region: String) -> HostRecord {
    var generator = SeededGenerator(seed: UInt64(number))
    return HostRecord(
      key: Identity(using: &generator).publicKey,
      endpoints: [Endpoint(.v4(0x0A00_0000 + UInt32(number)), port: 7_777)], region: region,
      game: GameVersion("air-hockey", "3"), seats: 8)
  }

  /// Registers a host.
  private static func join(
    _ record: HostRecord, _ server: RedisServer, on loop: NetworkLoop
  ) async throws -> (FleetMembership, AsyncStream<FleetMembership.Event>.Iterator) {
    let host = FleetMembership(of: record, in: try FleetAddress(server.fleet()), keys: [], on: loop)
    var events = host.events.makeAsyncIterator()
    await host.join()
    while let event = await events.next(), event != .host(.registered) {}
    return (host, events)
  }

  private static func start(
    _ command: String..., of server: RedisServer, with more: [String] = []
  ) throws -> RunningTool {
    try RunningTool(["fleet"] + command + ["--fleet", server.fleet(), "--json"] + more)
  }

  private static func expect(
    _ status: Int32, _ part: String, _ arguments: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let tool = try RunningTool(["fleet"] + arguments)
    let ended = await tool.process.status
    let errors = await tool.process.errors.all()
    #expect(ended == status && errors.count == 1, "\(errors)", sourceLocation: sourceLocation)
    let line = errors.first ?? ""
    #expect(line.hasPrefix("carom: "), sourceLocation: sourceLocation)
    #expect(
      line.contains(part) && !line.contains("secret"), "\(line)", sourceLocation: sourceLocation)
    #expect(await tool.process.output.all().isEmpty, sourceLocation: sourceLocation)
  }

  @Test func `hosts are shown, matches are placed, and a host is drained`() async throws {
    try await RedisServer.with { server in
      try await withNetworkLoop { loop in
        let records = [Self.record(1, region: "eu"), Self.record(2, region: "us")]
        let (first, _) = try await Self.join(records[0], server, on: loop)
        var (second, events) = try await Self.join(records[1], server, on: loop)
        let watch = try Self.start("watch", of: server, with: ["--every", "0.1"])
        for record in records {
          let line = try await watch.line("added", with: record.id.description)
          #expect(line.endpoints == record.endpoints.map(\.description) && line.state == "ready")
        }
        let folder = FileManager.default.temporaryDirectory
          .appending(path: "carom-fleet-\(UInt32.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let keyFile = folder.appending(path: "key").path
        #expect(await (try RunningTool(["token", "key", keyFile])).process.status == 0)
        let player = PeerID(high: 1, low: 2)
        let place = try Self.start(
          "place", "m1", player.description, of: server,
          with: Self.game + ["--near", "us", "--near", "eu", "--key", keyFile])
        #expect(await place.process.status == 0)
        let placed = try await place.line("placed")
        #expect(placed.match == "m1" && placed.player == player.description)
        #expect(placed.host == records[1].id.description)
        #expect(placed.endpoints == ["10.0.0.2:7777"])
        let token = try ConnectToken(#require(placed.token))
        #expect(token.hosts.map(\.description) == ["10.0.0.2:7777"])
        #expect(try await watch.line("updated", with: records[1].id.description).matches == 1)
        let status = try Self.start("status", of: server)
        #expect(await status.process.status == 0)
        #expect(try await status.line("added", with: records[0].id.description).matches == 0)
        #expect(try await status.line("fleet", with: "\"hosts\":2").matches == 1)
        let digits = String(records[1].id.description.prefix(8))
        let drain = try Self.start(
          "drain", digits.uppercased(), of: server, with: ["--patience", "90"]
        )
        #expect(await drain.process.status == 0)
        #expect(try await drain.line("updated").state == "draining")
        while let event = await events.next() {
          if case .host(.drainRequested(patience: .seconds(90)?)) = event { break }
        }
        let full = try Self.start("place", "m2", of: server, with: Self.game + ["--near", "us"])
        #expect(await full.process.status == 69)
        await second.withdraw()
        #expect(
          try await watch.line("removed", with: records[1].id.description).state == "draining")
        await first.withdraw()
        #expect(await watch.end() == 0)
      }
    }
  }

  @Test func `a watch tells once that the directory is away, and once that it is back`()
    async throws
  {
    try await RedisServer.with { server in
      let watch = try Self.start("watch", of: server, with: ["--every", "0.1"])
      try await watch.line("fleet", with: "\"hosts\":0")
      server.stop()
      let away = try await watch.line("away")
      #expect(away.reason?.isEmpty == false)
      // One that begins now waits, too.
      let late = try Self.start("watch", of: server, with: ["--every", "0.1"])
      #expect(try await late.line("away").reason?.contains("cannot be reached") == true)
      try server.start()
      try await late.line("back")
      #expect(await late.end(SIGTERM) == 0)
      try await watch.line("back")
      #expect(await watch.end(SIGTERM) == 0)
      let events = await watch.process.output.all().map { $0.prefix { $0 != "," } }
      #expect(events == [#"{"event":"fleet""#, #"{"event":"away""#, #"{"event":"back""#])
    }
  }

  @Test func `a watch waits for a server that is still loading its data`() async throws {
    try await withNetworkLoop { loop in
      let server = AnsweringServer("-LOADING Redis is loading the dataset in memory", on: loop)
      let fleet = ["--fleet", "redis://\(try await server.listen())/test"]
      let watch = try RunningTool(["fleet", "watch", "--json", "--every", "0.1"] + fleet)
      #expect(try await watch.line("away").reason?.contains("still loading its data") == true)
      #expect(await watch.end(SIGTERM) == 0)
      try await Self.expect(69, "still loading its data", ["status"] + fleet)
      await server.close()
    }
  }

  @Test func `without --json, a line tells what a host is and does`() async throws {
    try await RedisServer.with { server in
      try await withNetworkLoop { loop in
        let record = Self.record(1, region: "eu")
        let (host, _) = try await Self.join(record, server, on: loop)
        let status = try RunningTool(["fleet", "status", "--fleet", server.fleet()])
        #expect(await status.process.status == 0)
        let id = record.id.description.prefix(8)
        #expect(
          await status.process.output.all() == [
            "+  \(id)  eu  air-hockey 3  0/8  0  0.0 %  0.0 %  ready  10.0.0.1:7777",
            ":  fleet  1 host  0/8  0  0 orphans  0 finished",
          ])
        await host.withdraw()
      }
    }
  }

  @Test func `a password comes from a file or the address, and no error shows it`() async throws {
    try await RedisServer.with("--requirepass", "secret") { server in
      let folder = FileManager.default.temporaryDirectory
        .appending(path: "carom-fleet-\(UInt32.random(in: 0 ... .max))")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appending(path: "password").path
      func write(_ text: String, mode: Int = 0o600) throws {
        try text.write(toFile: file, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
      }
      let status = ["status", "--fleet", server.fleet()]
      let withFile = status + ["--password-file", file]
      try write("secret\r\n")
      #expect(await (try RunningTool(["fleet"] + withFile)).process.status == 0)
      let login = ["fleet", "status", "--fleet", server.fleet(login: ":secret@")]
      #expect(await (try RunningTool(login)).process.status == 0)
      try await Self.expect(77, "asks for a password", status)
      try await Self.expect(
        77, "does not accept", ["status", "--fleet", server.fleet(login: ":secret2@")])
      try write("secret", mode: 0o644)
      try await Self.expect(74, "other users can read it", withFile)
      try write("\nsecret")
      try await Self.expect(74, "has no password", withFile)
      try await Self.expect(74, "no such file", status + ["--password-file", file + "2"])
      // The address was given without its option, and the parser's message repeats it.
      try await Self.expect(
        64, "redis://…@", ["status", server.fleet(login: "maya:secret@")] + status.dropFirst())
    }
  }

  @Test func `what cannot be done is an error with a status of its own`() async throws {
    try await RedisServer.with { server in
      let fleet = ["--fleet", server.fleet()]
      for address in ["", "localhost", "redis://localhost", "rediss://localhost"] {
        try await Self.expect(64, "redis://", ["status", "--fleet", address])
      }
      try await Self.expect(64, "'--fleet", ["status"])
      try await Self.expect(64, "--every", ["watch", "--every", "0"] + fleet)
      try await Self.expect(64, "rediss://", ["status", "--redis-ca", "x"] + fleet)
      try await Self.expect(64, "--patience", ["drain", "abcd", "--patience", "86401"] + fleet)
      try await Self.expect(69, "does not know match m", ["result", "m"] + fleet)
      try await Self.expect(65, "MATCH", ["result", "m 1"] + fleet)
      try await Self.expect(64, "4 to 32", ["drain", "abc"] + fleet)
      try await Self.expect(64, "PLAYER '1'", ["place", "m", "1"] + Self.game + fleet)
      let player = PeerID(high: 1, low: 2).description
      try await Self.expect(64, "twice", ["place", "m", player, player] + Self.game + fleet)
      try await Self.expect(65, "MATCH", ["place", "m 1"] + Self.game + fleet)
      try await Self.expect(
        65, "--game-version", ["place", "m", "--game", "a", "--game-version", ""] + fleet)
      try await Self.expect(65, "--near", ["place", "m", "--near", "é"] + Self.game + fleet)
      try await Self.expect(69, "has no host: start one", ["place", "m"] + Self.game + fleet)
      let version = ["--game", "air-hockey", "--version", "4"]
      try await Self.expect(69, "has no host", ["place", "m"] + version + fleet)
      let secure = ["status", "--fleet", "rediss://127.0.0.1/test"]
      try await Self.expect(74, "--redis-ca: /nowhere", secure + ["--redis-ca", "/nowhere"])
      try await Self.expect(
        74, "--redis-certificate: /no", secure + ["--redis-certificate", "/nowhere", "/nowhere"])
      try await Self.expect(69, "abcd", ["drain", "abcd"] + fleet)
      server.stop()
      for command in [["status"], ["drain", "abcd"], ["place", "m"] + Self.game] {
        try await Self.expect(68, "cannot be reached", command + fleet)
      }
      try server.start()
      #expect(await (try RunningTool(["fleet", "status"] + fleet)).process.status == 0)
      #expect(
        await (try RunningTool(["fleet", "watch", "--for", "0.1"] + fleet)).process.status == 0)
    }
  }
}
