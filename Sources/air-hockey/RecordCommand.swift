import AirHockey
import ArgumentParser
import CaromSimulation

/// Records a match of two computer players, simulated as fast as possible.
struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Record a match of two computer players into FILE.",
    discussion: "To record a match of people, use --record FILE with the other commands.")

  @Argument(help: "The file to write.") var file: String
  @Option(parsing: .unconditional, help: "The length of the match in seconds.") var seconds = 60
  @Option(
    parsing: .unconditional,
    help: "The seed of the computer players; the same seed gives the same match.") var seed: UInt64?
  @Option(help: "How well both players play: easy, medium or hard.", transform: Strength.named)
  var strength: Strength = .medium

  func validate() throws {
    guard (1...86_400).contains(seconds) else {
      throw ValidationError("--seconds must be a whole number from 1 to 86400.")
    }
  }

  func run() throws {
    let seed = seed ?? .random(in: 0 ... .max)
    var home = ComputerPlayer(.home, strength: strength, seed: seed)
    var away = ComputerPlayer(.away, strength: strength, seed: ~seed)
    var rink = Rink()
    var events: [RinkEvent] = []
    var recording = try RecordingFile(file)
    recording.begin(rink.state)
    var matches = 0
    for _ in 0..<seconds * Preset.ticksPerSecond {
      var request: RinkInput.Request?
      if case .matchEnd = rink.state.phase { request = .startMatch }
      let inputs = [
        RinkInput(home.input(for: rink.state), request: request),
        RinkInput(away.input(for: rink.state)),
      ]
      events.removeAll(keepingCapacity: true)
      rink.step(inputs.span, events: &events)
      for case .won in events { matches += 1 }
      recording.record(home: inputs[0], away: inputs[1], leadingTo: rink.state)
      if let line = recording.takeTrouble() { throw CommandFailure(.ioFailed, line) }
    }
    recording.finish()
    if let line = recording.takeTrouble() { throw CommandFailure(.ioFailed, line) }
    print(
      "\(file): \(seconds) s, \(matches) whole \(matches == 1 ? "game" : "games"), "
        + "then \(rink.state.score)")
  }
}
