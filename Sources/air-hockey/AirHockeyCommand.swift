import ArgumentParser

@main
struct AirHockeyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "air-hockey", subcommands: [PictureCommand.self])
}
