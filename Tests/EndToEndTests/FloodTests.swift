import Foundation
import Testing

/// A match while somebody else on the network begins handshakes and does not go on with them.
@Suite(.turns, .enabled(if: Lab.isPossible, Lab.need)) struct FloodTests {
  /// What `Tests/Lab/halfopen.py` has done.
  private struct Flood: Decodable {
    var hellos: Int
    var cookies: Int
    /// The answers for which the host has done operations with public keys.
    var answers: Int
    var streams: Int
    var streamAnswers: Int
  }

  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Lab/halfopen.py")
  /// The length of the match and of the flood, in seconds.
  private static let (match, flood) = (6, 4)

  @Test(arguments: ["udp", "tcp"])
  func `a match keeps its rate while handshakes flood its host over TCP and UDP`(
    transport: String
  ) async throws {
    try await Lab.run(hosts: 3) { lab in
      // The flood has 128 addresses, each of which may have 32 half-open handshakes.
      try await lab.run("ip", "route", "add", "local", "10.77.0.128/25", "dev", "eth0", on: "h3")
      let common = ["--bot", "--json", "--seconds", "\(Self.match)"]
      let host = try RunningGame(
        ["host", "--unlisted", "--port", "7777", "--name", "Maya"] + common, on: "h1", of: lab)
      try await host.line("port 7777")
      let flood = try lab.start(
        URL(filePath: "/usr/bin/env"),
        ["python3", Self.script.path, "10.77.0.1", "7777", "10.77.0.128/25", "\(Self.flood)"],
        on: "h3", within: RunningProcess.limit)
      #expect(await flood.output.line { $0 == "ready" } != nil)
      // The flood is there before the player.
      let player = try RunningGame(
        ["join", "10.77.0.1:7777", "--name", "Leo", "--transport", transport] + common, on: "h2",
        of: lab)
      try await player.line("game 1 begins")
      let begin = ContinuousClock.now
      let reports = [try await player.report(), try await host.report()]
      let time = begin.duration(to: .now)
      for report in reports {
        #expect(report.endReason == "finished" && report.desyncs == 0)
        // A host on a busy machine skips some ticks, with or without a flood.
        #expect(report.ticks >= 40 * Self.match)
      }
      // A match that did not keep its rate would take longer. The machine may be busy with more
      // than this flood.
      #expect(time < .seconds(Self.match * 3 / 2))
      let line = try #require(await flood.output.all().last)
      let counts = try JSONDecoder().decode(Flood.self, from: Data(line.utf8))
      #expect(counts.cookies > 1_000 && counts.streams > 100)
      // At most 800 handshakes begin in a second on each kind of link, after 200 at once.
      #expect(0 < counts.answers && counts.answers <= 800 * (Self.flood + 1) + 200)
      #expect(counts.streamAnswers <= 800 * (Self.flood + 1) + 200)
    }
  }
}
