import AirHockey
import CaromCore
import CaromSimulation
import CaromTesting
import Foundation
import Testing

/// These hashes must be the same in every build and on every machine. After a deliberate change of
/// the rules or the physics, write the new values here and into the fixture.
@Suite struct SimulationHashTests {
  @Test func `a match of computer players has the expected hashes`() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Fixtures/match-hashes.txt")
    let known = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      .compactMap { UInt64($0) }
    let match = FixedMatch.play()
    #expect(match.hashes == known)
    #expect(match.goals > 0)
  }

  @Test func `a swarm has the expected hash`() {
    var swarm = Swarm(count: 200, seed: 3)
    var hands = [SwarmHand(seed: 1), SwarmHand(seed: 2)]
    var events: [Swarm.Event] = []
    for _ in 0..<1_000 {
      let inputs = hands.indices.map { hands[$0].input() }
      swarm.step(inputs.span, events: &events)
    }
    #expect(swarm.hash == 12_691_692_791_525_153_061)
  }

  @Test func `a match over a bad line has the expected hash`() {
    var match = PeerMatch(Rink(), window: 30, seed: 1, conditions: hardLine)
    var players = [
      ComputerPlayer(.home, strength: .hard, seed: 1), ComputerPlayer(.away, seed: 2),
    ]
    match.play(until: .zero + .seconds(10)) { player, session in
      players[player].play(session.state.state)
    }
    #expect(match.hashes[0][500] == 3_079_266_987_057_004_735)
    #expect(match.hashes[1][500] == 3_079_266_987_057_004_735)
  }
}
