import Foundation
import Testing

/// The game's executable, run to its end as a player runs it, without a terminal.
struct GameProcess {
  let status: Int32
  /// The lines of its standard output.
  let lines: [String]
  /// The lines of its standard error.
  let errors: [String]

  /// The program, which lies beside the tests.
  static func executable() throws -> URL {
    let tests = try #require(CommandLine.arguments.first)
    return URL(filePath: tests).deletingLastPathComponent().appending(path: "air-hockey")
  }

  /// Runs it to its end, with nothing to read.
  static func run(_ arguments: [String]) async throws -> GameProcess {
    let process = try RunningGame(arguments).process
    return GameProcess(
      status: await process.status, lines: await process.output.all(),
      errors: await process.errors.all())
  }

  /// Its standard output.
  var output: String { lines.joined(separator: "\n") }
}
