import Testing

@Suite(.turns) struct PlayTests {
  @Test(.enabled(if: Lab.isPossible, Lab.need))
  func `without a terminal, play prints the game as lines`() async throws {
    try await Lab.run(hosts: 1) { lab in
      let game = try RunningGame(["play", "--seconds", "2", "--name", "Maya"], on: "h1", of: lab)
      #expect(await game.process.status == 0)
      #expect(await game.process.errors.all().isEmpty)
      let lines = await game.process.output.all()
      #expect(lines.contains { $0.contains("Computer sits down") })
      #expect(lines.last?.contains("against Computer; finished; 120 ticks") == true)
    }
  }

  @Test(.enabled(if: Lab.isPossible, Lab.need))
  func `play without a display prints its result, and nothing else`() async throws {
    try await Lab.run(hosts: 1) { lab in
      let game = try RunningGame(
        ["play", "--headless", "--seconds", "1", "--name", "Maya"], on: "h1", of: lab)
      #expect(await game.process.status == 0)
      #expect(await game.process.errors.all().isEmpty)
      let lines = await game.process.output.all()
      #expect(lines.count == 1)
      #expect(lines.last?.contains("against Computer; finished; 60 ticks") == true, "\(lines)")
    }
  }
}
