import AirHockey
import ArgumentParser

/// Two people on one keyboard.
struct LocalCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "local", abstract: "Two people play on one keyboard.")

  @OptionGroup var options: PlayOptions
  @Option(help: "The name of who sits at the right.") var opponent = "Guest"

  func run() async throws {
    let name = try options.playerName()
    let guest = try PlayOptions.checked(opponent)
    let bot = ComputerPlayer(.away, strength: options.strength, seed: .random(in: 0 ... .max))
    let away = options.bot ? LocalGame.Player.computer(guest, bot) : .person(guest)
    try await options.playLocally(home: options.homePlayer(name), away: away, .two)
  }
}
