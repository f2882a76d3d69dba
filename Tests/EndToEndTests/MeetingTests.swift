import Foundation
import Testing

/// Players who search for each other, each in a separate process.
@Suite(.turns, .enabled(if: Lab.isPossible, Lab.need)) struct MeetingTests {
  private func start(_ name: String, on host: String, of lab: Lab, _ more: String...) throws
    -> RunningGame
  {
    try RunningGame(
      ["auto", "--bot", "--json", "--name", name, "--seconds", "1"] + more, on: host, of: lab)
  }

  @Test func `two players on one computer play one match, whatever their names are`() async throws {
    try await Lab.run(hosts: 1) { lab in
      let names = ["L'été v1.5 🏒", "Mr. O\\Neil, jr."]
      let games = try names.map {
        try start($0, on: "h1", of: lab, "--interface", "lo", "--seconds", "3")
      }
      let (first, second) = (try await games[0].report(), try await games[1].report())
      expectOneMatch(first, second, ticks: 180)
      #expect([second.peer, first.peer] == names)
    }
  }

  @Test func `two players with the same name meet on a network with only link-local addresses`()
    async throws
  {
    try await Lab.run(hosts: 2, .linkLocal) { lab in
      let games = try ["h1", "h2"].map {
        try start("Maya", on: $0, of: lab, "--seconds", "3")
      }
      let (first, second) = (try await games[0].report(), try await games[1].report())
      expectOneMatch(first, second, ticks: 180)
      #expect(first.peer == "Maya" && second.peer == "Maya")
    }
  }

  private func expectOneMatch(
    _ a: RunningGame.Report, _ b: RunningGame.Report, ticks: Int
  ) {
    #expect(Set([a.role, b.role]) == ["host", "client"])
    #expect(a.score == b.score)
    #expect(a.endReason == "finished" && b.endReason == "finished")
    #expect(max(a.ticks, b.ticks) == ticks)
    // On a busy machine, one side may start a little late.
    #expect(min(a.ticks, b.ticks) >= ticks - 15)
  }

  @Test func `eight players on a network form four matches`() async throws {
    try await Lab.run(hosts: 8) { lab in
      let games = try (1...8).map { try start("p\($0)", on: "h\($0)", of: lab) }
      var partners: [String: String] = [:]
      for (index, game) in games.enumerated() {
        partners["p\(index + 1)"] = try await game.report().peer
      }
      #expect(partners.count == 8)
      for (player, partner) in partners { #expect(partners[partner] == player) }
    }
  }

  @Test func `of three players on one computer one waits, and ends at once when signaled`()
    async throws
  {
    try await Lab.run(hosts: 1) { lab in
      let games = try ["a", "b", "c"].map { try start($0, on: "h1", of: lab, "--interface", "lo") }
      let reports = try await withThrowingTaskGroup(of: RunningGame.Report.self) { group in
        for game in games { group.addTask { try await game.report() } }
        var reports: [RunningGame.Report] = []
        while let report = try await group.next() {
          reports.append(report)
          if reports.count == 2 { for game in games { game.process.signal(SIGTERM) } }
        }
        return reports
      }
      #expect(reports.prefix(2).allSatisfy { $0.peer != nil && $0.endReason == "finished" })
      // The third has played with nobody to the end. Whether somebody has joined it for a moment,
      // before the two have found each other, does not matter here.
      #expect(reports.last?.endReason == "interrupted", "\(reports)")
    }
  }
}
