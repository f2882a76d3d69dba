import AirHockey
import CaromCore
import CaromSimulation
import CaromTesting
import Testing

/// The same in every build and on every machine: who changes the rules or the physics on purpose
/// writes the new numbers here.
@Suite struct SimulationHashTests {
  @Test func `a match of computers has its hashes`() {
    var rink = Rink()
    var players = (
      ComputerPlayer(.home, strength: .hard, seed: 3), ComputerPlayer(.away, seed: 4)
    )
    var events: [RinkEvent] = []
    var hashes: [UInt64] = []
    for tick in 1...6_000 {
      var request: RinkInput.Request?
      if case .matchEnd = rink.state.phase { request = .startMatch }
      let inputs = [
        RinkInput(players.0.input(for: rink.state), request: request),
        RinkInput(players.1.input(for: rink.state)),
      ]
      rink.step(inputs.span, events: &events)
      if tick % 2_000 == 0 { hashes.append(rink.hash) }
    }
    #expect(
      hashes == [
        14_121_742_745_116_230_650, 6_372_190_748_168_818_149, 9_631_139_971_273_466_385,
      ])
    #expect(events.contains { if case .goal = $0 { true } else { false } })
  }

  @Test func `a swarm has its hash`() {
    var swarm = Swarm(count: 200, seed: 3)
    var hands = [SwarmHand(seed: 1), SwarmHand(seed: 2)]
    var events: [Swarm.Event] = []
    for _ in 0..<1_000 {
      let inputs = hands.indices.map { hands[$0].input() }
      swarm.step(inputs.span, events: &events)
    }
    #expect(swarm.hash == 12_691_692_791_525_153_061)
  }

  @Test func `a match over a bad line has the hash that it always had`() {
    var table = RollbackTable(Rink(), window: 30, seed: 1, conditions: hardLine)
    var players = [
      ComputerPlayer(.home, strength: .hard, seed: 1), ComputerPlayer(.away, seed: 2),
    ]
    table.play(until: .zero + .seconds(10)) { player, session in
      RinkInput(players[player].input(for: session.state.state))
    }
    #expect(table.hashes[0][500] == 2_457_919_435_710_333_420)
    #expect(table.hashes[1][500] == 2_457_919_435_710_333_420)
  }
}
