import AirHockey
import ArgumentParser
import CaromTransport

/// Plays against the computer.
struct SoloCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "solo", abstract: "Play against the computer.")

  @OptionGroup var options: PlayOptions

  func run() async throws {
    let name = try options.playerName()
    let opponent = ComputerPlayer(.away, strength: options.strength, seed: .random(in: 0 ... .max))
    let away = LocalGame.Player.computer("Computer (\(options.strength))", opponent)
    try await options.playLocally(home: options.homePlayer(name), away: away, .one)
  }
}
