import CaromCore
import CaromSimulation
import Testing

@testable import CaromSession

/// Notices of matches and worlds that are not polled in time (Rollback).
@Suite struct MissedNoticeTests {
  /// Appends two notices more than fit.
  private func overfill<Notice: Sendable>(_ notices: inout EventQueue<Notice>, _ notice: Notice) {
    for _ in 0..<notices.limit + 2 { notices.append(notice) }
  }

  @Test func `the reader of a match learns how many notices were dropped`() async throws {
    try await withPair { pair in
      let hosted = HostedRollback(
        RollbackServer(Tally(), players: 1, at: pair.loop.now), over: pair.hosting)
      overfill(&hosted.notices, .joined(pair.client, player: 0))
      #expect(hosted.pollNotice() == .missed(notices: 2))
      #expect(hosted.pollNotice() == .joined(pair.client, player: 0))

      let joined = JoinedRollback<Tally>(pair.host, over: pair.visiting)
      overfill(&joined.notices, .interrupted)
      #expect(joined.pollNotice() == .missed(notices: 2))
      #expect(joined.pollNotice() == .interrupted)

      let match = PeerRollback<Tally>(
        pair.host, over: pair.visiting, channels: RollbackChannels(inputs: 10, control: 11))
      overfill(&match.notices, .stalling)
      #expect(match.pollNotice() == .missed(notices: 2))
      #expect(match.pollNotice() == .stalling)
    }
  }

  @Test func `the reader of a hosted world learns how many notices were dropped`() async throws {
    try await withPair { pair in
      let schema = EntitySchema(.position(0...100, step: 0.01), .position(0...100, step: 0.01))
      let hosted = HostedWorld(
        WorldReplicator(WorldConfiguration(schema: schema)), over: pair.hosting)
      overfill(&hosted.notices, .joined(pair.client))
      #expect(hosted.pollNotice() == .missed(notices: 2))
      #expect(hosted.pollNotice() == .joined(pair.client))
    }
  }
}
