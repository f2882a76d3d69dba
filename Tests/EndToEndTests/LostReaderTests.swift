import Foundation
import Testing

@testable import air_hockey

/// Games whose output loses its reader, as in front of `head`.
@Suite(.turns) struct LostReaderTests {
  private let game: String
  private let file = FileManager.default.temporaryDirectory
    .appending(path: "carom-\(UUID().uuidString).crpl")

  init() throws { game = try GameProcess.executable().path }

  /// Runs `command` of the shell, and exits with the status of the first program in its pipe.
  private func run(_ command: String) throws -> RunningProcess {
    try RunningProcess(
      URL(filePath: "/bin/bash"), ["-c", "'\(game)' \(command); exit ${PIPESTATUS[0]}"])
  }

  @Test func `a host whose output loses its reader says goodbye and completes its recording`()
    async throws
  {
    let reader = """
      while read -r line; do echo "$line"; [ "$line" = "game 1 begins" ] && break; done
      """
    let options = "--unlisted --interface lo --bot --name Maya --record '\(file.path)'"
    let host = try run("host \(options) | \(reader)")
    let line = try #require(await host.output.line { $0.hasPrefix("not listed, port ") })
    let port = try #require(line.split(separator: " ").last.map(String.init))
    let client = try RunningGame.join(port)
    #expect(try await client.report().endReason == "left")
    #expect(await host.status == CommandFailure.Status.ioFailed.rawValue)
    let errors = await host.errors.all()
    #expect(errors.count == 1 && errors[0].contains("cannot be written"), "\(errors)")
    let replay = try await GameProcess.run(["replay", file.path, "--check"])
    #expect(replay.status == 0 && !replay.output.contains("cut off"), "\(replay.lines)")
    try FileManager.default.removeItem(at: file)
  }

  @Test(arguments: ["--bot | true", "--bot --headless --seconds 1 > /dev/full"])
  func `a summary that cannot be printed is an error`(options: String) async throws {
    let process = try run("solo \(options)")
    #expect(await process.status == CommandFailure.Status.ioFailed.rawValue)
    let errors = await process.errors.all()
    #expect(errors.count == 1 && errors[0].contains("cannot be written"), "\(errors)")
  }

  @Test func `only a pipe whose reading end is closed has lost its reader`() throws {
    let pipe = Pipe()
    let display = LineDisplay(output: pipe.fileHandleForWriting)
    #expect(!display.hasLostReader)
    try pipe.fileHandleForReading.close()
    #expect(display.hasLostReader)
    #expect(!LineDisplay(output: .nullDevice).hasLostReader)
  }
}
