import CaromCore
import CaromTesting
import Testing

@testable import CaromSimulation

/// The input delay of peers without a server, which adapts to the latency of the path.
@Suite struct SessionDelayTests {
  private func makeMatch(oneWay: Duration, adapts: Bool) -> PeerMatch<Swarm> {
    var match = PeerMatch(
      Swarm(count: 4, seed: 5), window: 12, delay: 0, seed: 1,
      conditions: LinkConditions(oneWay: oneWay))
    for player in match.sessions.indices { match.sessions[player].adaptsInputDelay = adapts }
    return match
  }

  @Test(arguments: [20, 150, 300])
  func `on a path of any length a match that adapts does not stall after some seconds`(
    oneWay: Int
  ) {
    var match = makeMatch(oneWay: .milliseconds(oneWay), adapts: true)
    match.play(until: .zero + .seconds(8)) { _, _ in Swarm.Input(push: 1) }
    let before = match.sessions.map(\.rollback.statistics)
    match.play(until: .zero + .seconds(28)) { _, _ in Swarm.Input(push: 2) }
    for player in match.sessions.indices {
      let session = match.sessions[player]
      #expect(session.rollback.statistics.stalls == before[player].stalls)
      #expect((1_190...1_210).contains(session.rollback.statistics.steps - before[player].steps))
      #expect(!session.isStalling)
      // Only as much delay as the window of 12 ticks leaves: one way takes `oneWay`.
      #expect(session.currentInputDelay <= max(0, oneWay * 60 / 1_000 + 8 - 12) + 4)
    }
    #expect(match.desyncs.isEmpty)
  }

  @Test func `a match that does not adapt stalls on a long path, and says so`() {
    var match = makeMatch(oneWay: .milliseconds(400), adapts: false)
    match.play(until: .zero + .seconds(6)) { _, _ in Swarm.Input(push: 1) }
    for session in match.sessions {
      #expect(session.isStalling && session.currentInputDelay == 0)
    }
  }
}
