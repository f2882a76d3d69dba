import Foundation
import Testing

/// The game in another language, written from the page, has the same bits.
@Suite(.enabled(if: ChildProcess.python != nil, "python3 is not on the PATH"), .timeLimit(.minutes(1)))
struct ReplayProofTests {
  @Test func `another language plays the same match to the last bit`() async throws {
    var match = RecordedMatch(seed: 11)
    let ticks = 12_000
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).crpl")
    try Data(match.replay(ticks: ticks)).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let told = try await ChildProcess.peer("replay.py", [file.path]).summary()
    #expect(told["violations"] as? [String] == [])
    #expect(told["ticks"] as? Int == ticks)
    #expect(told["hashes"] as? Int == ticks / 3 + 1)
    #expect(told["keyframes"] as? Int == ticks / 600 + 1)
    for happened in ["goals", "fouls", "pauses", "matches"] {
      #expect((told[happened] as? Int ?? 0) > 1, "\(happened)")
    }
  }
}
