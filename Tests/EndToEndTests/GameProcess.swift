import Foundation
import Testing

/// The game's executable, run as a player runs it, without a terminal.
struct GameProcess {
  let status: Int32
  let output: String
  let errors: String

  /// The lines of its standard output.
  var lines: [Substring] { output.split(separator: "\n") }

  /// The program, which lies beside the tests.
  static func executable() throws -> URL {
    let tests = try #require(CommandLine.arguments.first)
    return URL(filePath: tests).deletingLastPathComponent().appending(path: "air-hockey")
  }

  /// Runs it to its end, with nothing to read.
  static func run(_ arguments: [String]) async throws -> GameProcess {
    let process = Process()
    process.executableURL = try executable()
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in ended.resume() }
      do { try process.run() } catch { ended.resume(throwing: error) }
    }
    let text = { (pipe: Pipe) in
      String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
    return GameProcess(
      status: process.terminationStatus, output: text(output), errors: text(errors))
  }
}
