import AirHockey
import CaromCore
import CaromTesting
import Testing

@testable import CaromSimulation

@Suite struct PlayerDisconnectTests {
  @Test
  func
    `a vanished player is disconnected at the same tick everywhere, whatever inputs each peer has`()
    throws
  {
    try Seeds(scaled(debug: 3, release: 20), from: 1).check { seed in
      var match = PeerMatch(
        Swarm(count: 12, players: 4, seed: 3), players: 4, window: 20, seed: seed,
        conditions: seed % 2 == 0 ? .terrible : .poor, lateness: .milliseconds(20))
      var hands = (0..<4).map { SwarmHand(seed: UInt64($0)) }
      match.play(until: .zero + .seconds(2)) { player, _ in hands[player].input() }
      match.gone.insert(3)
      match.play(until: .zero + .seconds(3)) { player, _ in hands[player].input() }
      let stopped = match.sessions[0].rollback.tick
      #expect(match.sessions[0].rollback.statistics.stalls > 10)
      match.sessions[Int(seed % 3)].disconnect(player: 3)
      match.play(until: .zero + .seconds(5)) { player, _ in hands[player].input() }
      let ticks = Set((0...2).map { match.sessions[$0].rollback.disconnectTicks[3] })
      #expect(ticks.count == 1 && ticks.first != .some(nil))
      #expect(stopped.distance(to: match.sessions[0].rollback.tick) > 60)
      let agree = match.agree
      #expect(agree)
      #expect(match.desyncs.isEmpty)
      #expect(match.failures.isEmpty)
    }
  }

  @Test func `a player disconnected by mistake is notified`() {
    var match = PeerMatch(
      Swarm(count: 12, players: 3, seed: 3), players: 3, window: 20, seed: 1, conditions: .good)
    match.play(until: .zero + .seconds(1)) { _, _ in Swarm.Input() }
    match.sessions[0].disconnect(player: 2)
    match.play(until: .zero + .seconds(2)) { _, _ in Swarm.Input() }
    #expect(match.sessions[2].isDisconnected)
    #expect(
      match.sessions[1].rollback.disconnectTicks[2] == match.sessions[0].rollback.disconnectTicks[2]
    )
    #expect(match.sessions[0].rollback.statistics.stalls < 5)
  }
}
