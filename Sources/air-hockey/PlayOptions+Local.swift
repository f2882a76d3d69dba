import AirHockey
import AirHockeyTerminal
import CaromTransport

extension PlayOptions {
  /// Returns the player in the left seat.
  func homePlayer(_ name: String) -> LocalGame.Player {
    guard bot else { return .person(name) }
    let computer = ComputerPlayer(.home, strength: strength, seed: .random(in: 0 ... .max))
    return .computer(name, computer)
  }

  /// Plays without a network, then prints the summary.
  func playLocally(
    home: LocalGame.Player, away: LocalGame.Player, _ seating: Controls.Seating
  ) async throws {
    Interrupts.begin()
    let summary = try await withNetworkLoop { loop throws(CommandFailure) in
      let game = LocalGame(
        on: loop, home: home, away: away, tickLimit: tickLimit, recording: record)
      return try await game.run { () throws(CommandFailure) in try makeDisplay(seating) }
    }
    try report(summary)
  }
}
