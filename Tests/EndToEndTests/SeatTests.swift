import Foundation
import Testing

/// Admission to a table that is full, or occupied by a computer opponent.
@Suite(.turns, .enabled(if: Lab.isPossible, Lab.need)) struct SeatTests {
  private static let table = "127.0.0.1:7777"

  private func startHost(on lab: Lab, _ more: String...) async throws -> RunningGame {
    let host = try RunningGame(
      ["host", "--interface", "lo", "--bot", "--json", "--name", "Maya", "--port", "7777"] + more,
      on: "h1", of: lab)
    try await host.line("visible as")
    return host
  }

  private func startClient(_ name: String, on lab: Lab, _ more: String...) throws -> RunningGame {
    try RunningGame(
      ["join", Self.table, "--bot", "--json", "--name", name] + more, on: "h1", of: lab)
  }

  @Test func `a third player is refused with one line, and the match continues`() async throws {
    try await Lab.run(hosts: 1) { lab in
      let host = try await startHost(on: lab)
      let client = try startClient("Leo", on: lab)
      try await host.line("Leo sits down")
      let third = try startClient("Zoe", on: lab)
      #expect(await third.process.status == 69)
      #expect(
        await third.process.errors.all() == [
          "air-hockey: every seat of that host is taken: try again later"
        ])
      client.process.signal(SIGTERM)
      try await host.line("match ended: left")
      await host.process.end()
      #expect(await host.ends == ["match ended: left"])
      let (first, second) = (try await host.report(), try await client.report())
      #expect(abs(first.ticks - second.ticks) <= 15)
    }
  }

  @Test func `the computer yields its seat to a person, and returns when the person leaves`()
    async throws
  {
    try await Lab.run(hosts: 1) { lab in
      let host = try await startHost(on: lab, "--opponent")
      try await host.line("Computer sits down")
      let first = try #require(host.process.children.first)
      let person = try startClient("Leo", on: lab, "--seconds", "1")
      try await host.line("Leo sits down")
      try await host.line("game 2 begins")
      try await Self.end(of: first)
      #expect(try await person.report().endReason == "finished")
      try await host.line("Computer sits down", 2)
      let second = host.process.children
      #expect(second.count == 1 && second != [first])
      host.process.signal(SIGTERM)
      #expect(try await host.report().endReason == "interrupted")
      for companion in second { try await Self.end(of: companion) }
    }
  }

  @Test func `the computer opponent exits when its host is killed`() async throws {
    try await Lab.run(hosts: 1) { lab in
      let host = try await startHost(on: lab, "--opponent")
      try await host.line("Computer sits down")
      let companion = try #require(host.process.children.first)
      host.process.signal(SIGKILL)
      try await Self.end(of: companion)
    }
  }

  /// Waits until a process that is not a child of the test process has ended.
  private static func end(of process: Int32) async throws {
    let tail = URL(filePath: "/usr/bin/tail")
    try await RunningProcess(
      tail, ["--pid", "\(process)", "--follow", "/dev/null"], within: .seconds(10)
    ).expectSuccess()
  }
}
