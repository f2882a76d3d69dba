import AirHockey
import Foundation
import Testing

@testable import air_hockey

@Suite(.turns) struct LocalPlayTests {
  @Test func `two computer players play for a second, and the summary is one JSON object`()
    async throws
  {
    let game = try await GameProcess.run([
      "solo", "--bot", "--headless", "--seconds", "1", "--json", "--name", "Maya",
    ])
    #expect(game.status == 0)
    #expect(game.errors.isEmpty)
    #expect(game.lines.count == 1)
    let object = try JSONSerialization.jsonObject(with: Data(game.output.utf8))
    let summary = try #require(object as? [String: Any])
    #expect(summary["role"] as? String == "local")
    #expect(summary["ticks"] as? Int == Preset.ticksPerSecond)
    #expect(summary["endReason"] as? String == "time is up")
  }

  @Test func `without a terminal the game prints lines, and only the computer can play`()
    async throws
  {
    let game = try await GameProcess.run(["local", "--bot", "--seconds", "1", "--opponent", "Leo"])
    #expect(game.status == 0)
    #expect(game.lines.first?.hasSuffix(" against Leo") == true)
    #expect(game.lines.last?.contains("time is up") == true)
    let person = try await GameProcess.run(["solo"])
    #expect(person.status == CommandFailure.Status.notATerminal.rawValue)
  }

  @Test(arguments: [
    (["solo", "--name", String(repeating: "x", count: 64)], CommandFailure.Status.badName),
    (["solo", "--seconds", "0"], .usage), (["nowhere"], .usage),
  ])
  func `a wrong argument is an error of one line with its own status`(
    arguments: [String], status: CommandFailure.Status
  )
    async throws
  {
    let game = try await GameProcess.run(arguments)
    #expect(game.status == status.rawValue)
    #expect(game.output == "")
    #expect(game.errors.count == 1)
    #expect(game.errors.first?.hasPrefix("air-hockey: ") == true)
  }

  @Test func `the help names every exit status`() async throws {
    let game = try await GameProcess.run(["--help"])
    #expect(game.status == 0)
    for status in CommandFailure.Status.allCases {
      #expect(game.output.contains("  \(status.rawValue)\t"))
    }
  }
}
