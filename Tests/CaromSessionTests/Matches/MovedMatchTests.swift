import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Testing

/// A rollback match that goes on at another host, on real sockets (page Rollback, Go on with a
/// match at another host).
@Suite(.timeLimit(.minutes(1))) struct MovedMatchTests {
  /// Reads ticks until the players' sums are at least `sum`.
  private func play(_ match: HostedRollback<Tally>, until sum: UInt32) async {
    for await _ in match.ticks {
      match.advance()
      if match.server.state.sums.prefix(2).min() ?? 0 >= sum { break }
    }
  }

  /// What a player saw at one host.
  private struct Visit: Sendable, Equatable {
    let player: Int?
    let first: [UInt32]
    let last: [UInt32]
    let reason: DisconnectReason?
  }

  private static func visit(
    _ session: Session, _ host: Peer, with points: Int32
  ) async throws -> Visit {
    let match = try await RollbackClient<Tally>.join(host, over: session)
    let first = match.client.confirmedState?.sums ?? []
    for await _ in match.ticks { match.advance(with: Tally.Points(points)) }
    return Visit(
      player: match.player, first: first, last: match.client.confirmedState?.sums ?? [],
      reason: match.endReason)
  }

  @Test func `players go on with their match at another host, as the same players`() async throws {
    try await withHostedSession { old in
      try await withHostedSession { new in
        let match = HostedRollback(
          RollbackServer(Tally(), players: 2, rate: 120, at: old.loop.now), over: old.session)
        let visits = (0..<2).map { number in
          Task {
            try await old.join(makePeer("\(number)")) { session, host in
              let points = Int32(number + 1)
              let before = try await Self.visit(session, host, with: points)
              guard case .moved(let next)? = before.reason else { return [before] }
              return try await session.follow(to: next) { session, host in
                [before, try await Self.visit(session, host, with: points)]
              }
            }
          }
        }
        await play(match, until: 10)
        let checkpoint = match.checkpoint.encoded
        let sums = match.server.state.sums
        match.finish()
        let next = NextHost(at: [new.endpoint])
        // The other way round, so that nobody gets the right player by coming first.
        for peer in match.peers.reversed() { await peer.close(Goodbye(movedTo: next)) }
        let resumed = try RollbackCheckpoint<Tally>(decoding: checkpoint.span)
        let again = HostedRollback(
          RollbackServer(resuming: resumed, at: new.loop.now), over: new.session,
          lastPeers: resumed.peers)
        await play(again, until: 30)
        again.finish()
        let final = again.server.state.sums
        for peer in again.peers { await peer.close(Goodbye(.finished)) }
        for task in visits {
          let seen = try await task.value
          try #require(seen.count == 2, "\(seen)")
          #expect(seen[0].player == seen[1].player && seen[0].player != nil)
          // Each player has seen all of the match up to the checkpoint, and goes on from there.
          #expect(seen[0].last == sums && seen[0].reason == .moved(to: next))
          #expect(zip(seen[1].first, sums).allSatisfy { $0 >= $1 })
          #expect(seen[1].last == final && seen[1].reason == .finished)
        }
        #expect(match.checkpoint.peers == again.checkpoint.peers)
      }
    }
  }
}
