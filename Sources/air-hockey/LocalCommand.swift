import AirHockey
import ArgumentParser

/// The `local` command: a game between two people at one keyboard.
struct LocalCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "local", abstract: "Play with two people at one keyboard.")

  @OptionGroup var options: PlayOptions
  @Option(help: "The name of the player on the right.") var opponent = "Opponent"

  func run() async throws {
    let name = try options.playerName()
    let opponentName = try PlayOptions.checked(opponent)
    let bot = ComputerPlayer(.away, strength: options.strength, seed: .random(in: 0 ... .max))
    let away = options.bot ? LocalGame.Player.computer(opponentName, bot) : .person(opponentName)
    try await options.playLocally(home: options.homePlayer(name), away: away, .two)
  }
}
