import AirHockey
import AirHockeyTerminal
import ArgumentParser
import CaromCore
import CaromSimulation
import CaromTransport
import Foundation

/// Shows or checks a recorded match.
struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Show a recorded match, or check every hash in it if there is no terminal.")

  /// The maximum size of a replay file, in bytes: enough for about a day of play.
  static let sizeLimit = 16 << 20

  @Argument(help: "The file to replay.") var file: String
  @Option(parsing: .unconditional, help: "The second at which to begin.") var from = 0
  @Flag(help: "Check the file without showing it.") var check = false
  @Flag(help: "Print the result of the check as one JSON object.") var json = false
  @Flag(help: "Print the number and the hash of each tick, to compare two recordings.")
  var hashes = false

  func validate() throws {
    guard (0...1_000_000).contains(from) else {
      throw ValidationError("--from must be a whole number of seconds from 0 to 1000000.")
    }
  }

  func run() async throws {
    var replay = try Self.open(file)
    do throws(DecodeError) {
      try replay.seek(to: start(of: replay))
      if hashes { return try printHashes(&replay) }
      if check || json || !Terminal.isPresent { return try report(&replay) }
    } catch {
      throw Self.damaged(file, error, at: replay.tick)
    }
    Interrupts.begin()
    let shown = replay
    let failure = try await withNetworkLoop { loop throws(CommandFailure) in
      let game = ReplayGame(shown, title: file, on: loop)
      return try await game.run { () throws(CommandFailure) in
        do { return try TerminalDisplay(.nobody) } catch {
          throw CommandFailure(.notATerminal, "not a terminal (use --check)")
        }
      }
    }
    if let (error, tick) = failure { throw Self.damaged(file, error, at: tick) }
  }

  /// Returns the tick at which to begin, which may be after the end of the file.
  private func start(of replay: ReplayReader<Rink>) -> Tick {
    replay.header.start.advanced(by: Int64(from) * Int64(replay.header.rate))
  }

  /// Reads a replay file. Throws if the file is not a replay of this game.
  static func open(_ path: String) throws(CommandFailure) -> ReplayReader<Rink> {
    guard let file = FileHandle(forReadingAtPath: path),
      let data = try? file.read(upToCount: sizeLimit + 1)
    else { throw CommandFailure(.ioFailed, "\(path) cannot be read, or is empty") }
    guard data.count <= sizeLimit else {
      throw CommandFailure(.ioFailed, "\(path) is larger than \(sizeLimit >> 20) MiB")
    }
    do throws(DecodeError) {
      let replay = try ReplayReader<Rink>(Array(data))
      guard replay.header.title == MatchRecorder.title,
        replay.header.rate == Preset.ticksPerSecond
      else { throw .invalid(what: "game") }
      return replay
    } catch { throw CommandFailure(.ioFailed, "\(path) is not a replay of this game: \(error)") }
  }

  private static func damaged(
    _ path: String, _ error: DecodeError, at tick: Tick
  ) -> CommandFailure {
    CommandFailure(.ioFailed, "\(path) is damaged after tick \(tick.rawValue): \(error)")
  }

  /// The result of checking a replay, as printed with `--json`.
  private struct Report: Encodable {
    var ticks: Int64
    var hashes: Int
    var goals = 0
    var matches = 0
    var score = ""
    var hash = ""
    var isComplete: Bool
  }

  private func printHashes(_ replay: inout ReplayReader<Rink>) throws(DecodeError) {
    while try replay.step() {
      print("\(replay.tick.rawValue) \(String(replay.game.hash, radix: 16))")
    }
  }

  private func report(_ replay: inout ReplayReader<Rink>) throws(DecodeError) {
    let begin = replay.tick
    var report = Report(ticks: 0, hashes: 0, isComplete: replay.isComplete)
    while try replay.step() {
      for event in replay.events {
        if case .goal = event { report.goals += 1 }
        if case .won = event { report.matches += 1 }
      }
    }
    report.ticks = begin.distance(to: replay.tick)
    report.hashes = replay.comparedHashes
    report.score = replay.game.state.score.description
    report.hash = String(replay.game.hash, radix: 16)
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys]
      if let data = try? encoder.encode(report) { print(String(decoding: data, as: UTF8.self)) }
      return
    }
    let seconds = report.ticks / Int64(replay.header.rate)
    let end = report.isComplete ? "" : "; the recording was cut off"
    print(
      "\(file): \(seconds / 60) min \(seconds % 60) s, \(report.hashes) hashes agree, "
        + "\(report.goals) goals, \(report.matches) whole games, at last \(report.score)\(end)")
  }
}
