import Foundation
import Testing

/// The result of running the game's executable to its end, without a terminal.
struct GameProcess {
  let status: Int32
  /// The lines of its standard output.
  let lines: [String]
  /// The lines of its standard error.
  let errors: [String]

  /// The game's executable, which is in the folder of the test executable.
  static func executable() throws -> URL {
    let tests = try #require(CommandLine.arguments.first)
    return URL(filePath: tests).deletingLastPathComponent().appending(path: "air-hockey")
  }

  /// Runs the game to its end without input.
  static func run(_ arguments: [String]) async throws -> GameProcess {
    let process = try RunningGame(arguments).process
    return GameProcess(
      status: await process.status, lines: await process.output.all(),
      errors: await process.errors.all())
  }

  /// The standard output as one text.
  var output: String { lines.joined(separator: "\n") }
}
