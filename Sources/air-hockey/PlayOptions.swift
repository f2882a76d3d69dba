import AirHockey
import AirHockeyTerminal
import ArgumentParser
import CaromCore
import Foundation

/// The options that every way to play has.
struct PlayOptions: ParsableArguments {
  @Flag(help: "The computer plays my seat.") var bot = false
  @Flag(help: "Draw nothing and print no progress.") var headless = false
  @Option(help: "End after this many seconds of play.") var seconds: Int?
  @Option(help: "The name that others see, at most 63 bytes.") var name: String?
  @Option(
    name: .customLong("strength"),
    help: "How well the computer plays: easy, medium (without it) or hard.",
    transform: Strength.named)
  var givenStrength: Strength?
  @Option(help: "A JSON file with the name and the strength that are not given here.")
  var preferences: String?
  @Flag(help: "Write name and strength to the --preferences file.") var save = false
  @Option(help: "Record what is played into FILE, for 'air-hockey replay'.") var record: String?
  @Flag(help: "Print a summary as one JSON object on the last line.") var json = false

  /// How well the computer plays.
  var strength: Strength { givenStrength ?? .medium }

  mutating func validate() throws {
    if let preferences {
      let saved = try Preferences.load(preferences)
      name = name ?? saved.name
      givenStrength = try givenStrength ?? saved.strength.map(Strength.named)
      if save { try Preferences(name: name, strength: "\(strength)").save(preferences) }
    } else if save {
      throw ValidationError("--save wants to know where: --preferences FILE.")
    }
    if let seconds, !(1...1_000_000).contains(seconds) {
      throw ValidationError("--seconds wants a whole number from 1 to 1000000.")
    }
  }

  /// The ticks to play; `nil` for no end.
  var tickLimit: Int? { seconds.map { $0 * Preset.ticksPerSecond } }

  /// The name to play under: the one that was given, the account's, or "Player".
  func playerName() throws(CommandFailure) -> String {
    guard let name else {
      let account = ProcessInfo.processInfo.environment["USER"] ?? ""
      return (try? Self.checked(account)) ?? "Player"
    }
    return try Self.checked(name)
  }

  /// The name, if it can stand in one DNS label and on one line.
  static func checked(_ name: String) throws(CommandFailure) -> String {
    let length = name.utf8.count
    guard length <= PeerID.maximumNameLength else {
      throw CommandFailure(
        .badName, "the name has \(length) bytes; at most \(PeerID.maximumNameLength) fit")
    }
    let isPlain = name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    guard isPlain, TextWidth.columns(of: name) > 0 else {
      throw CommandFailure(.badName, "the name has to be printable, and not empty")
    }
    return name
  }

  /// The face that fits: none, the terminal, or lines. Throws where a person is to play and
  /// there is no terminal to play on.
  func makeFace(
    _ seating: Controls.Seating, isWatching: Bool = false
  ) throws(CommandFailure) -> any GameFace {
    if headless { return SilentFace() }
    if Terminal.isPresent, let face = try? TerminalFace(seating) { return face }
    guard bot || isWatching else { throw Self.notATerminal }
    // A summary for machines has standard output to itself.
    return PlainFace(output: json ? .standardError : .standardOutput)
  }

  /// Throws where a person is to play and there is no terminal, before anything else is done.
  func checkSeat() throws(CommandFailure) {
    guard headless || bot || Terminal.isPresent else { throw Self.notATerminal }
  }

  private static let notATerminal = CommandFailure(
    .notATerminal, "not a terminal: nobody can move the mallet here (use --bot or --headless)")

  /// Prints the summary in the form that was asked for; throws where not all went well.
  func report(_ summary: Summary) throws(CommandFailure) {
    if json || !headless {
      let line = json ? summary.json : TextWidth.plain(summary.line)
      try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    }
    if let line = summary.recordingTrouble { throw CommandFailure(.badFile, line) }
    // The summary has told why.
    if summary.status != .success { throw CommandFailure(summary.status, "") }
  }
}

extension Strength {
  /// The strength of that name.
  static func named(_ name: String) throws -> Strength {
    guard let strength = allCases.first(where: { "\($0)" == name }) else {
      throw ValidationError("--strength is easy, medium or hard.")
    }
    return strength
  }
}
