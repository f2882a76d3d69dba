import ArgumentParser
import CaromCore
import CaromFleet
import CaromPlacement

/// The `fleet result` command: shows the result of a match that is over.
struct FleetResultCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "result",
    abstract: "Show the result of MATCH, which the fleet knows for 60 seconds after its end.")

  @Argument(help: "The name of the match.") var match: String
  @OptionGroup var options: FleetOptions
  @OptionGroup var duration: TimeLimitOptions

  func run() async throws {
    guard let match = MatchID(match) else {
      throw CommandFailure(.badName, "MATCH must have 1 to 64 visible ASCII characters")
    }
    let output = Output(FleetRows.resultHeadings, json: options.json, isTable: false)
    try await options.run(output: output, for: duration.answerLimit) { directory in
      switch try await directory.status(of: match) {
      case .over(let result)?: output.emit(FleetRows.result(result, of: match))
      case .hosted(let placement)?:
        let host = placement.host.id.description.prefix(8)
        throw CommandFailure(.unavailable, "match \(match) is not over: host \(host) has it")
      case .orphaned?:
        throw CommandFailure(.unavailable, "match \(match) is not over: it has lost its host")
      case nil:
        throw CommandFailure(
          .unavailable, "the fleet does not know match \(match), or has forgotten its result")
      }
    }
  }
}
