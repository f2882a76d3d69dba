import Foundation
import Testing

/// A player who finds no opponent is advertised while waiting, and withdrawn when the wait ends.
@Suite(.turns, .enabled(if: Lab.isPossible, Lab.need)) struct WithdrawalTests {
  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `a waiting player ends at once, with a goodbye`(signal: Int32) async throws {
    try await Lab.run(hosts: 2) { lab in
      let peer = try GameProcess.executable().deletingLastPathComponent()
        .appending(path: "carom-peer")
      let browser = try lab.start(
        peer, ["browse", "_airhockey._tcp"], on: "h2", within: RunningProcess.limit)
      let game = try RunningGame(
        ["auto", "--bot", "--json", "--window", "0", "--name", "Maya"], on: "h1", of: lab)
      let seen = await browser.output.line { $0.contains("added") && $0.contains("Maya") }
      try #require(seen != nil)
      // timeout(1) also sends the signal twice.
      game.process.signal(signal)
      game.process.signal(signal)
      let report = try await game.report()
      #expect(await game.process.status == 0)
      #expect(report.role == "host" && report.peer == nil && report.ticks == 0)
      #expect(report.endReason == "interrupted")
      let gone = await browser.output.line { $0.contains("removed") && $0.contains("Maya") }
      #expect(gone != nil)
      browser.signal(SIGKILL)
    }
  }
}
