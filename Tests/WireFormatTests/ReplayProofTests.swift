import Foundation
import Testing

/// The path of Python 3, or nil if it is not installed.
private let python = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":")
  .map { URL(filePath: String($0)).appending(path: "python3") }
  .first { FileManager.default.isExecutableFile(atPath: $0.path) }

/// Replays a match in the Python implementation of the game, which was written from the
/// WireFormat page.
@Suite(.enabled(if: python != nil, "python3 is not on the PATH"), .timeLimit(.minutes(1)))
struct ReplayProofTests {
  /// Replays a file and returns the summary that the program prints.
  private func replay(_ file: URL) async throws -> [String: Any] {
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "peer/replay.py")
    // Not a pipe, whose end another test's process might inherit and keep open.
    let output = file.appendingPathExtension("json")
    defer { try? FileManager.default.removeItem(at: output) }
    try #require(FileManager.default.createFile(atPath: output.path, contents: nil))
    let process = Process()
    process.executableURL = python
    process.arguments = ["-B", script.path, file.path]
    process.standardOutput = try FileHandle(forWritingTo: output)
    try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in ended.resume() }
      do { try process.run() } catch { ended.resume(throwing: error) }
    }
    let object = try JSONSerialization.jsonObject(with: try Data(contentsOf: output))
    return try #require(object as? [String: Any])
  }

  @Test func `the Python implementation replays a recorded match to the last bit`() async throws {
    let ticks = 24_000
    var match = RecordedMatch(seed: 20)
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).crpl")
    try Data(match.replay(ticks: ticks)).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let summary = try await replay(file)
    #expect(summary["violations"] as? [String] == [])
    #expect(summary["ticks"] as? Int == ticks)
    #expect(summary["hashes"] as? Int == ticks / 3 + 1)
    #expect(summary["keyframes"] as? Int == ticks / 600 + 1)
    for event in ["goals", "wins", "fouls", "pauses", "matches"] {
      #expect(summary[event] as? Int ?? 0 > 0, "\(event)")
    }
  }
}
