import Foundation
import Testing

/// Processes that run the sources of `GameKitSamples`, which know only Apple's interface.
@Suite(.timeLimit(.minutes(2)), .serialized) struct MatchProcessTests {
  private struct Outcome: Hashable, Sendable {
    let text: String
    let status: Int32
  }

  /// Runs the program, which is in the folder of the test executable.
  private static func run(
    _ game: String, _ player: String, _ count: Int
  ) async throws -> Outcome {
    let tests = try #require(CommandLine.arguments.first)
    let folder = URL(filePath: tests).deletingLastPathComponent()
    let process = Process()
    process.executableURL = folder.appending(path: "gamekit-peer")
    process.arguments = [game, player, "\(count)"]
    process.environment = ProcessInfo.processInfo.environment.merging([
      "CAROM_INTERFACES": "lo"
    ]) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try await withCheckedThrowingContinuation { (end: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in end.resume() }
      do { try process.run() } catch { end.resume(throwing: error) }
    }
    // A few lines, which the pipe has room for.
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    let text = String(decoding: data, as: UTF8.self)
    return Outcome(text: text, status: process.terminationStatus)
  }

  @Test(arguments: [["Ada", "Leo"], ["Ada", "Leo", "Maya"]])
  func `sources for Apple's framework find a match, and all players talk`(
    names: [String]
  ) async throws {
    let game = "a game \(UInt64.random(in: .min ... .max))"
    let outcomes = try await withThrowingTaskGroup(of: (String, Outcome).self) { tasks in
      for name in names {
        tasks.addTask { (name, try await Self.run(game, name, names.count)) }
      }
      return try await tasks.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    for name in names {
      let others = names.filter { $0 != name }
      let list = others.joined(separator: ", ")
      let lines = others.map { "\($0) of \(list)\n" }
      #expect(outcomes[name] == Outcome(text: lines.joined(), status: 0))
    }
  }
}
