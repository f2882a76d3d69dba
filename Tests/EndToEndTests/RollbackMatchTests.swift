import AirHockey
import CaromSimulation
import Foundation
import Testing

@testable import air_hockey

/// A temporary folder for recordings, deleted on release.
private struct Recordings: ~Copyable {
  let folder = FileManager.default.temporaryDirectory.appending(path: "carom-\(UUID())")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func path(_ name: String) -> String { folder.appending(path: name).path }

  /// Plays a recording to its end and returns the hash of every tick.
  func hashes(_ name: String) throws -> [Tick: UInt64] {
    let bytes = Array(try Data(contentsOf: folder.appending(path: name)))
    var reader = try ReplayReader<Rink>(bytes)
    #expect(reader.isComplete)
    var hashes = [reader.tick: reader.game.hash]
    while try reader.step() { hashes[reader.tick] = reader.game.hash }
    return hashes
  }
}

/// The length of a match in seconds; `CAROM_MATCH_SECONDS` overrides it.
private let seconds =
  ProcessInfo.processInfo.environment["CAROM_MATCH_SECONDS"].flatMap { Int($0) } ?? 8

@Suite(.turns) struct RollbackMatchTests {
  @Test(
    .enabled(if: Lab.isPossible, Lab.need), .timeLimit(.minutes(seconds / 60 + 2)))
  func `despite loss and delay both sides stay in sync and record the same match`() async throws {
    let files = try Recordings()
    let limit = Duration.seconds(seconds + 60)
    try await Lab.run(hosts: 2) { lab in
      let host = try RunningGame(
        [
          "host", "--bot", "--json", "--name", "Maya", "--port", "7777", "--seconds",
          "\(seconds)", "--record", files.path("host"), "--net-stats",
        ], on: "h1", of: lab, within: limit)
      try await host.line("visible as")
      let client = try RunningGame(
        [
          "join", "10.77.0.1:7777", "--bot", "--json", "--name", "Leo", "--transport", "udp",
          "--record", files.path("client"), "--net-stats",
        ], on: "h2", of: lab, within: limit)
      try await client.line("game 1 begins")
      try await lab.harm("h2", lossPercent: 25, delay: 100, jitter: 15)
      let (hostReport, clientReport) = (try await host.report(), try await client.report())
      #expect(hostReport.ticks == seconds * 60 && hostReport.endReason == "finished")
      #expect(clientReport.ticks > seconds * 50 && clientReport.desyncs == 0)
      #expect(clientReport.rollbacks > 0 && clientReport.deepestRollback >= 12)
      // There are no stalls on an idle machine, but a busy one may pause the processes.
      #expect(clientReport.stalls < clientReport.ticks / 3)
      #expect(clientReport.score == hostReport.score)
      try await client.line("rollbacks")
    }
    let (host, client) = (try files.hashes("host"), try files.hashes("client"))
    let common = host.keys.filter { client[$0] != nil }
    #expect(common.count > seconds * 50)
    #expect(common.allSatisfy { host[$0] == client[$0] })
    // The last tick arrives reliably.
    #expect(host.keys.max() == client.keys.max())
  }

  @Test func `a client that simulates a mobile network plays in sync over a real socket`()
    async throws
  {
    let files = try Recordings()
    let host = try RunningGame([
      "host", "--unlisted", "--interface", "lo", "--bot", "--json", "--name", "Maya",
      "--record", files.path("host"), "--net-stats",
    ])
    let line = try await host.line("port ")
    let port = try #require(line.split(separator: " ").last)
    let client = try RunningGame([
      "join", "127.0.0.1:\(port)", "--bot", "--json", "--name", "Leo", "--seconds", "4",
      "--conditions", "mobile", "--record", files.path("client"), "--net-stats",
    ])
    // The profile has 50 ± 15 ms in each direction, which both sides feel.
    for game in [host, client] {
      let meter = try await game.line("RTT ", 3)
      let roundTrip = try #require(
        meter.split(separator: " ").dropFirst().first.flatMap { Double($0) })
      #expect(roundTrip >= 70, "\(meter)")
    }
    let report = try await client.report()
    #expect(report.endReason == "finished" && report.desyncs == 0)
    // An input of the host arrives 3 ticks late or more.
    #expect(report.rollbacks > 0 && report.deepestRollback >= 3)
    #expect(await client.process.output.all().contains { $0.contains("\"transport\":\"udp\"") })
    host.process.signal(SIGTERM)
    #expect(try await host.report().endReason == "interrupted")
    let (all, part) = (try files.hashes("host"), try files.hashes("client"))
    #expect(part.count > 120 && part.allSatisfy { all[$0.key] == $0.value })
  }

  @Test func `a late spectator watches the same match without disturbing it`() async throws {
    let files = try Recordings()
    let host = try RunningGame([
      "host", "--unlisted", "--interface", "lo", "--bot", "--json", "--name", "Maya",
      "--record", files.path("host"),
    ])
    let line = try await host.line("port ")
    let port = try #require(line.split(separator: " ").last)
    let client = try RunningGame(["join", "127.0.0.1:\(port)", "--bot", "--json", "--name", "Leo"])
    try await host.line("game 1 begins")
    let spectator = try RunningGame([
      "watch", "127.0.0.1:\(port)", "--json", "--name", "Zoe", "--seconds", "1", "--record",
      files.path("spectator"),
    ])
    try await host.line("Zoe watches")
    try await spectator.line("Maya plays against Leo")
    let seen = try await spectator.report()
    #expect(seen.role == "watcher" && seen.peer == "Maya" && seen.endReason == "finished")
    #expect(seen.ticks == 60 && seen.rollbacks == 0 && seen.desyncs == 0)
    host.process.signal(SIGTERM)
    #expect(try await host.report().endReason == "interrupted")
    #expect(try await client.report().endReason == "left")
    let (all, part) = (try files.hashes("host"), try files.hashes("spectator"))
    #expect(part.count > 30 && part.allSatisfy { all[$0.key] == $0.value })
  }

  @Test func `the same seed gives the same recording, and replaying checks every hash`()
    async throws
  {
    let files = try Recordings()
    for name in ["one", "two"] {
      let made = try await GameProcess.run(
        ["record", files.path(name), "--seconds", "20", "--seed", "7"])
      #expect(made.status == 0)
    }
    let (one, two) = (try files.hashes("one"), try files.hashes("two"))
    #expect(one == two && one.count == 1_201)
    let checked = try await GameProcess.run(["replay", files.path("one"), "--json"])
    #expect(checked.status == 0)
    #expect(checked.output.contains("\"hashes\":20,\"isComplete\":true"))
    let late = try await GameProcess.run(["replay", files.path("one"), "--from", "15", "--json"])
    #expect(late.output.contains("\"ticks\":300"))
  }

  @Test func `a file is overwritten only by a new recording, and each match has its own file`()
    throws
  {
    let files = try Recordings()
    let path = files.path("match.crpl")
    try Data("precious".utf8).write(to: URL(filePath: path))
    var nothing = try RecordingFile(path)
    nothing.finish()
    #expect(FileManager.default.contents(atPath: path) == Data("precious".utf8))
    var unused = try RecordingFile(files.path("unused"))
    unused.finish()
    #expect(!FileManager.default.fileExists(atPath: files.path("unused")))

    var file = try RecordingFile(path)
    var rink = Rink()
    for _ in 0..<2 {
      file.begin(rink.state)
      for _ in 0..<70 {
        var events: [RinkEvent] = []
        rink.step([RinkInput(), RinkInput()].span, events: &events)
        file.record(home: RinkInput(), away: RinkInput(), leadingTo: rink.state)
      }
      file.beginNextFile()
    }
    file.finish()
    #expect(file.takeTrouble() == nil)
    #expect(file.paths == [path, files.path("match-2.crpl")])
    #expect(try files.hashes("match.crpl").count == 71)
    #expect(try files.hashes("match-2.crpl").keys.max() == Tick(140))
    #expect(!FileManager.default.fileExists(atPath: files.path("match-3.crpl")))
    for place in [files.folder.path, "/dev/null"] {
      #expect(throws: CommandFailure.self) { try RecordingFile(place) }
    }
  }

  @Test func `a damaged, foreign or missing file is an error of one line`() async throws {
    let files = try Recordings()
    _ = try await GameProcess.run(["record", files.path("whole"), "--seconds", "15"])
    let whole = Array(try Data(contentsOf: files.folder.appending(path: "whole")))
    var broken = whole
    broken[whole.count / 2] ^= 0x10
    try Data(broken).write(to: files.folder.appending(path: "broken"))
    try Data("GET / HTTP/1.1\r\n".utf8).write(to: files.folder.appending(path: "other"))
    for name in ["broken", "other", "missing"] {
      let game = try await GameProcess.run(["replay", files.path(name), "--check"])
      #expect(game.status == 74)
      #expect(game.errors.count == 1 && game.errors.first?.hasPrefix("air-hockey: ") == true)
    }
    let unwritable = try await GameProcess.run(
      ["record", files.path("no/such/folder"), "--seconds", "1"])
    #expect(unwritable.status == 74)
  }
}
