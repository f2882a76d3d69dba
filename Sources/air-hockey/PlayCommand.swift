import ArgumentParser
import Carom

/// Plays on loopback against a computer opponent in a second process.
struct PlayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play",
    abstract:
      "Open a table on loopback; a computer opponent joins it until a person does.",
    discussion: "Without a terminal, the computer plays both seats for one complete game.")

  @OptionGroup var options: PlayOptions
  @Flag(
    help: """
      Print the round trip, loss, state age, corrections and bytes every second, except with \
      --headless.
      """)
  var netStats = false

  func run() async throws {
    _ = try options.playerName()
    let canPlay = Terminal.isPresent && !options.headless
    var arguments = ["--interface", "lo", "--opponent"]
    if !canPlay { arguments += ["--bot"] }
    if !canPlay, options.seconds == nil { arguments += ["--games", "1"] }
    if options.bot, canPlay { arguments += ["--bot"] }
    if options.headless { arguments += ["--headless"] }
    if options.json { arguments += ["--json"] }
    if let seconds = options.seconds { arguments += ["--seconds", "\(seconds)"] }
    if let name = options.name { arguments += ["--name=\(name)"] }
    if netStats { arguments += ["--net-stats"] }
    if let record = options.record { arguments += ["--record=\(record)"] }
    arguments += ["--strength", "\(options.strength)"]
    let host = try HostCommand.parse(arguments)
    try await host.run()
  }
}
