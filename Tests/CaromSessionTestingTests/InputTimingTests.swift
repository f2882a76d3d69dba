import CaromSessionTesting
import Testing

/// Whether a player's inputs reach the host in time, on paths whose delay varies.
@Suite struct InputTimingTests {
  /// Plays a match of one remote player, as `play` does it, over a path with a jitter of 10 ms.
  /// Returns the number of late inputs before each of the host's ticks, and the result of `play`.
  private static func match<Result: Sendable>(
    oneWay milliseconds: Int, seed: UInt64,
    _ play: @escaping @Sendable (JoinedRollback<Pushes>) async -> Result
  ) async throws -> (late: [Int], result: Result) {
    let profile = LinkProfile(
      "\(milliseconds) ± 10 ms",
      LinkConditions(oneWay: .milliseconds(milliseconds), jitter: .uniform(.milliseconds(10))))
    return try await SessionWorld.run(seed: seed) { world in
      let pair = WorldPair(in: world, profile: profile)
      return try await Session.host(as: .maya, loop: pair.server.loop) { hosting, port in
        async let result = pair.join(port) { session, host in
          await play(JoinedRollback<Pushes>(host, over: session))
        }
        let server = RollbackServer(Pushes(), players: 2, at: hosting.loop.now)
        let match = HostedRollback(server, over: hosting, remotePlayers: [0])
        var late: [Int] = []
        var wasJoined = false
        for await _ in match.ticks {
          match.advance()
          late.append(match.server.missedInputs(of: 0))
          if wasJoined, match.peers.isEmpty { break }
          wasJoined = wasJoined || !match.peers.isEmpty
        }
        // The last value is that of a player without a peer.
        return (late.dropLast(), try await result)
      }
    }
  }

  /// Plays for `duration`, and returns the tick after it.
  @discardableResult
  private static func play(
    _ match: JoinedRollback<Pushes>, for duration: Duration
  ) async -> Int {
    let end = match.session.loop.now + duration
    for await tick in match.ticks {
      match.advance(with: Pushes.Push(at: tick))
      if match.session.loop.now >= end { break }
    }
    return Int(match.client.rollback?.tick.rawValue ?? 0)
  }

  @Test(arguments: [30, 100, 200, 300], [1, 2, 3] as [UInt64])
  func `no input is late, from the first one on`(oneWay: Int, seed: UInt64) async throws {
    let (late, last) = try await Self.match(oneWay: oneWay, seed: seed) { match in
      await Self.play(match, for: .seconds(12))
    }
    #expect(last > 650 && late.count > 650)
    #expect(late.last == 0)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `no input is late while the input delay becomes shorter`(seed: UInt64) async throws {
    let (late, (tick, delays)) = try await Self.match(oneWay: 300, seed: seed) { match in
      match.client.inputDelay = 20
      let tick = await Self.play(match, for: .seconds(8))
      let delay = match.client.currentInputDelay
      match.client.inputDelay = 0
      await Self.play(match, for: .seconds(40))
      return (tick, [delay, match.client.currentInputDelay])
    }
    #expect(delays[0] >= 20 && delays[1] <= 16)
    #expect(late.count > tick + 2_000 && late[tick] == late.last)
  }
}
