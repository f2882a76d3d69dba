import AirHockey
import CaromCore
import CaromPhysics
import CaromTesting
import Testing

@testable import CaromSimulation

@Suite struct RollbackOrderTests {
  /// One player pauses while the other scores. Regardless of which arrives first where, the tick
  /// decides, and both ends see the same events in the same order and reach the same state.
  @Test(arguments: -3...3)
  func `a pause near the deciding goal has the same effect on both peers in either order`(
    offset: Int64
  ) throws {
    // The puck moves into away's undefended goal. It is the last goal of the match.
    var state = RinkState()
    state.phase = .playing(half: .away, remaining: Preset.possessionTicks)
    state.score.home = Preset.goalsToWin - 1
    state.puck = PuckState(
      position: LatticePoint(Vector(0.3, 0)), velocity: LatticePoint(Vector(3, 0)))
    let aside = RinkInput(MalletInput(Vector(0.6, 0.4)))
    let goalTick = try #require(decidingTick(state, aside))
    for (seed, oneWay) in [(UInt64(1), 20), (2, 120)] {
      var match = PeerMatch(
        Rink(state), window: 30, delay: 0, seed: seed,
        conditions: LinkConditions(oneWay: .milliseconds(oneWay)))
      let pauseTick = goalTick.advanced(by: offset)
      match.play(until: .zero + .seconds(2)) { player, session in
        guard player == 1 else { return RinkInput(MalletInput(Vector(-0.6, 0.4))) }
        let isTime = session.rollback.tick == pauseTick
        return RinkInput(aside.mallet, request: isTime ? .pause : nil)
      }
      let agree = match.agree
      #expect(agree)
      #expect(match.confirmed[0] == match.confirmed[1])
      let events = match.confirmed[0].map(\.event)
      #expect(events.contains(.paused(.away)))
      // Only a pause before the tick of the goal prevents it.
      #expect(events.contains(.won(.home)) == (offset > 0))
      let states = match.sessions.map { $0.rollback.state(at: Tick(100)) }
      #expect(states[0] == states[1])
    }
  }

  /// The tick in whose step the goal is scored if no player pauses.
  private func decidingTick(_ state: RinkState, _ aside: RinkInput) -> Tick? {
    var rink = Rink(state)
    let inputs = [RinkInput(MalletInput(Vector(-0.6, 0.4))), aside]
    for _ in 0..<120 {
      let tick = rink.state.tick
      var events: [RinkEvent] = []
      rink.step(inputs.span, events: &events)
      if events.contains(.won(.home)) { return tick }
    }
    return nil
  }
}
