import Foundation
import Testing

/// The same match in another language, which was written from the page.
@Suite(
  .enabled(if: ChildProcess.python != nil, "python3 is not on the PATH"), .timeLimit(.minutes(1)))
struct ReplayProofTests {
  @Test func `another language plays a recorded match to the last bit`() async throws {
    let ticks = 24_000
    var match = RecordedMatch(seed: 20)
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).crpl")
    try Data(match.replay(ticks: ticks)).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let told = try await ChildProcess.peer("replay.py", [file.path]).summary()
    #expect(told["violations"] as? [String] == [])
    #expect(told["ticks"] as? Int == ticks)
    #expect(told["hashes"] as? Int == ticks / 3 + 1)
    #expect(told["keyframes"] as? Int == ticks / 600 + 1)
    for happened in ["goals", "wins", "fouls", "pauses", "matches"] {
      #expect(told[happened] as? Int ?? 0 > 0, "\(happened)")
    }
  }
}
