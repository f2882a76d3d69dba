import Foundation
import Testing

/// Replays a match in the Python implementation of the game, which was written from the
/// WireFormat page.
@Suite(
  .enabled(if: Python.executable != nil, "python3 is not on the PATH"), .timeLimit(.minutes(1)))
struct ReplayProofTests {
  /// Replays a file and returns the summary that the program prints.
  private func replay(_ file: URL) async throws -> [String: Any] {
    let output = try await Python.run("replay.py", file)
    let object = try JSONSerialization.jsonObject(with: Data(output.utf8))
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

  /// `Tests/determinism.sh` and `Tests/webassembly.sh` play the recording. After a deliberate
  /// change of the rules, the physics or the format, write what this records into the fixture, and
  /// the hashes that they print into those beside it.
  @Test func `the recorded match of the fixtures is what this build records`() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let fixture = try Data(contentsOf: tests.appending(path: "Fixtures/recorded-match.crpl"))
    var match = RecordedMatch(seed: 1)
    let recorded = match.replay(ticks: 3_000)
    #expect([UInt8](fixture) == recorded)
  }
}
