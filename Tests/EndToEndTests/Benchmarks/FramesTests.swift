import Foundation
import Testing

/// `bench frames`, as a person reads it.
@Suite(.turns) struct FramesTests {
  @Test func `the benchmark of frames says what a player sees, what it compares and what it costs`()
    async throws
  {
    let bench = try GameProcess.executable().deletingLastPathComponent().appending(path: "bench")
    let process = try RunningProcess(
      bench,
      ["frames", "--matches", "2", "--seconds", "1", "--rounds", "1", "--search", "0"])
    #expect(await process.status == 0)
    let lines = await process.output.all()
    let summary = try Regex(
      #"^[0-9.]+ frames a second in each of 2 matches, (none|\d+ of 120) lost, "#
        + #"[0-9. ]+ us of a core each$"#)
    #expect(lines.contains { $0.firstMatch(of: summary) != nil }, "\(lines)")
    #expect(lines.contains { $0.contains("over plain TCP: the ratio shows what sessions cost") })
  }
}
