import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Testing

@testable import CaromSimulation

/// Rollback matches over sessions on loopback: one call per frame, on any thread.
@Suite struct RollbackPollingTests {
  @Test func `a frame loop serves and plays with one call per frame`() async throws {
    try await withPair { pair in
      // The client is connected before the match begins, and still has a place in it.
      let hosted = HostedRollback(
        RollbackServer(Tally(), players: 2, rate: 240, at: pair.loop.now), over: pair.hosting)
      let joined = JoinedRollback<Tally>(pair.host, over: pair.visiting)
      #expect(joined.state == nil && joined.player == nil)
      var finished: [Int] = []
      var prepared = 0
      while finished.isEmpty {
        hosted.update { match in
          prepared += 1
          #expect(match === hosted)
        }
        joined.update { _ in Tally.Points(9) }
        while let event = joined.pollEvent() {
          if case .confirmed(.finished(let player), _) = event { finished.append(player) }
        }
        try await nextFrame()
      }
      #expect(finished == [0] && joined.player == 0 && joined.roundTrip != nil)
      #expect(prepared == Int(hosted.server.tick.rawValue))
      #expect(hosted.pollNotice() == .joined(pair.client, player: 0))
      #expect(joined.pollNotice() == .seated(player: 0))
      #expect(hosted.player(of: pair.client) == 0 && hosted.peer(of: 1) == nil)
    }
  }

  @Test func `the times of the ticks are given by the frame loop`() async throws {
    try await withPair { pair in
      let start = pair.loop.now
      let hosted = HostedRollback(
        RollbackServer(Tally(), players: 1, rate: 60, at: start), over: pair.hosting)
      hosted.receive(at: start + .milliseconds(16))
      #expect(!hosted.isTickDue)
      hosted.receive(at: start + .milliseconds(51))
      for left in (0..<3).reversed() {
        #expect(hosted.isTickDue)
        hosted.advance()
        #expect(hosted.isTickDue == (left > 0))
      }
      #expect(hosted.server.tick == Tick(3))
    }
  }

  @Test func `a match takes no events from the reader of the session's events`() async throws {
    try await withHostedSession(seats: 1) { hosted in
      let match = HostedRollback(
        RollbackServer(Tally(), players: 1, at: hosted.loop.now), over: hosted.session)
      try await hosted.join(makePeer("client")) { _, _ in
        while match.peers.isEmpty {
          match.update()
          try await nextFrame()
        }
        #expect(await hosted.session.joined() == match.peers.first)
      }
      #expect(await hosted.session.ending() == .finished)
    }
  }

  @Test func `a desync is noticed on both sides, and the client recovers`() async throws {
    try await withPair { pair in
      let hosted = HostedRollback(
        RollbackServer(Tally(), players: 1, rate: 60, at: pair.loop.now), over: pair.hosting)
      let joined = JoinedRollback<Tally>(pair.host, over: pair.visiting)
      var isDamaged = false
      var reports: [DesyncReport] = []
      var ticks: [Tick] = []
      while reports.isEmpty || joined.client.keyframeCount < 2 {
        hosted.update()
        joined.update()
        if !isDamaged, let tick = joined.client.rollback?.confirmedTick, tick > Tick(20) {
          isDamaged = true
          joined.client.rollback?.damage()
        }
        while let notice = joined.pollNotice() {
          if case .desynced(let report) = notice { reports.append(report) }
        }
        while let notice = hosted.pollNotice() {
          if case .desynced(pair.client, let tick) = notice { ticks.append(tick) }
        }
        try await nextFrame()
      }
      #expect(reports.count == 1 && ticks == [reports[0].tick])
    }
  }
}

extension Rollback<Tally> {
  /// Changes the first state that is not confirmed, as a fault of the program would.
  fileprivate mutating func damage() {
    guard confirmedTick < tick else { return game.damage = 1 }
    saves[slot(confirmedTick)].damage = 1
    rollBack(to: confirmedTick)
  }
}
