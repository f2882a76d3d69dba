import AirHockey
import AirHockeyTerminal
import ArgumentParser
import CaromCore
import Foundation

/// The options shared by all commands that play matches.
struct PlayOptions: ParsableArguments {
  @Flag(help: "Let the computer play my seat.") var bot = false
  @Flag(
    help: """
      Draw nothing and print no progress. What keeps a host or a player from the fleet is still \
      written to standard error.
      """)
  var headless = false
  @Option(
    parsing: .unconditional,
    help: "End after this many seconds of play; waiting for a player does not count.")
  var seconds: Int?
  @Option(help: "The name that other players see, at most 63 bytes.") var name: String?
  @Option(
    name: .customLong("strength"),
    help: "How well the computer plays: easy, medium (the default) or hard.",
    transform: Strength.named)
  var givenStrength: Strength?
  @Option(help: "A JSON file with the default name and strength.")
  var preferences: String?
  @Flag(help: "Write the name and strength to the --preferences file.") var save = false
  @Option(help: "Record the matches into a file for 'air-hockey replay'.") var record: String?
  @Flag(help: "Print the summary as one JSON object on the last line.") var json = false

  /// How well the computer plays.
  var strength: Strength { givenStrength ?? .medium }

  mutating func validate() throws {
    if let preferences {
      let saved = try Preferences.load(preferences, mayBeMissing: save)
      name = name ?? saved.name
      givenStrength = try givenStrength ?? saved.strength.map(Strength.named)
      if save { try Preferences(name: name, strength: "\(strength)").save(preferences) }
    } else if save {
      throw ValidationError("--save requires --preferences FILE.")
    }
    if let seconds, !(1...1_000_000).contains(seconds) {
      throw ValidationError("--seconds must be a whole number from 1 to 1000000.")
    }
  }

  /// The number of ticks to play; nil for no limit.
  var tickLimit: Int? { seconds.map { $0 * Preset.ticksPerSecond } }

  /// Returns the player's name: the given name, otherwise the account's name, otherwise "Player".
  func playerName() throws(CommandFailure) -> String {
    guard let name else {
      let account = ProcessInfo.processInfo.environment["USER"] ?? ""
      return (try? Self.checked(account)) ?? "Player"
    }
    return try Self.checked(name)
  }

  /// Returns the name if it fits into a DNS label and is printable on one line; throws otherwise.
  static func checked(_ name: String) throws(CommandFailure) -> String {
    let length = name.utf8.count
    guard length <= PeerID.maximumNameLength else {
      throw CommandFailure(
        .badName, "the name has \(length) bytes: use at most \(PeerID.maximumNameLength)")
    }
    let isPlain = name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    guard isPlain, TextWidth.columns(of: name) > 0 else {
      throw CommandFailure(.badName, "the name is empty or not printable: choose another --name")
    }
    return name
  }

  /// Creates a display: the terminal, lines of text, or a display that shows nothing. Throws if a
  /// person is to play but there is no terminal.
  func makeDisplay(
    _ seating: Controls.Seating, isSpectator: Bool = false
  ) throws(CommandFailure) -> any GameDisplay {
    if headless { return NoDisplay() }
    if Terminal.isPresent, let display = try? TerminalDisplay(seating) { return display }
    guard bot || isSpectator else { throw Self.notATerminal }
    // With --json, only the summary is written to standard output.
    return LineDisplay(output: json ? .standardError : .standardOutput)
  }

  /// Throws if a person is to play but there is no terminal. Called before the network is used.
  func checkSeat() throws(CommandFailure) {
    guard headless || bot || Terminal.isPresent else { throw Self.notATerminal }
  }

  private static let notATerminal = CommandFailure(
    .notATerminal, "not a terminal: a person cannot play here (use --bot or --headless)")

  /// Prints the summary as text or JSON. Throws if the recording failed, if the summary cannot be
  /// printed, or if the session ended with an error.
  func report(_ summary: Summary) throws(CommandFailure) {
    let line = json ? summary.json : TextWidth.plain(summary.line)
    let isPrinted =
      (try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))) != nil
    if let line = summary.recordingTrouble { throw CommandFailure(.ioFailed, line) }
    guard isPrinted else {
      throw CommandFailure(
        .ioFailed, "the output cannot be written: check its reader and the free space")
    }
    // The summary has already stated the reason.
    if summary.status != .success { throw CommandFailure(summary.status, "") }
  }
}

extension Strength {
  /// Returns the strength with the given name. Throws if no strength has that name.
  static func named(_ name: String) throws -> Strength {
    guard let strength = allCases.first(where: { "\($0)" == name }) else {
      throw ValidationError("--strength must be easy, medium or hard.")
    }
    return strength
  }
}
