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
      var table = RollbackTable(
        Swarm(count: 12, players: 4, seed: 3), players: 4, window: 20, seed: seed,
        conditions: seed % 2 == 0 ? .terrible : .poor, lateness: .milliseconds(20))
      var hands = (0..<4).map { SwarmHand(seed: UInt64($0)) }
      table.play(until: .zero + .seconds(2)) { player, _ in hands[player].input() }
      table.gone.insert(3)
      table.play(until: .zero + .seconds(3)) { player, _ in hands[player].input() }
      let stopped = table.sessions[0].rollback.tick
      #expect(table.sessions[0].rollback.statistics.stalls > 10)
      table.sessions[Int(seed % 3)].disconnect(player: 3)
      table.play(until: .zero + .seconds(5)) { player, _ in hands[player].input() }
      let ticks = Set((0...2).map { table.sessions[$0].rollback.disconnectTicks[3] })
      #expect(ticks.count == 1 && ticks.first != .some(nil))
      #expect(stopped.distance(to: table.sessions[0].rollback.tick) > 60)
      let agree = table.agree
      #expect(agree)
      #expect(table.desyncs.isEmpty)
      #expect(table.failures.isEmpty)
    }
  }

  @Test func `a player disconnected by mistake is notified`() {
    var table = RollbackTable(
      Swarm(count: 12, players: 3, seed: 3), players: 3, window: 20, seed: 1, conditions: .good)
    table.play(until: .zero + .seconds(1)) { _, _ in Swarm.Input() }
    table.sessions[0].disconnect(player: 2)
    table.play(until: .zero + .seconds(2)) { _, _ in Swarm.Input() }
    #expect(table.sessions[2].isDisconnected)
    #expect(
      table.sessions[1].rollback.disconnectTicks[2] == table.sessions[0].rollback.disconnectTicks[2]
    )
    #expect(table.sessions[0].rollback.statistics.stalls < 5)
  }
}
