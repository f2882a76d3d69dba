import AirHockey
import CaromCore
import CaromTesting
import Testing

@testable import CaromSimulation

@Suite struct DesyncTests {
  @Test func `a corrupted state is reported with tick, entity and field on both ends`() throws {
    for (seed, conditions) in [
      (UInt64(1), LinkConditions(oneWay: .milliseconds(50))), (2, hardLine), (3, .terrible),
    ] {
      var match = PeerMatch(
        Swarm(count: 8, seed: 5), window: 30, seed: seed, conditions: conditions)
      var hands = [SwarmHand(seed: 3), SwarmHand(seed: 4)]
      match.play(until: .zero + .seconds(3)) { player, _ in hands[player].input() }
      #expect(match.desyncs.isEmpty)
      let tick = match.sessions[0].damage { $0.damage = 1 }
      match.play(until: .zero + .seconds(8)) { player, _ in hands[player].input() }
      #expect(match.desyncs.count == 2)
      for report in match.desyncs {
        #expect(report.tick == tick.next)
        #expect(report.differences.first?.entity == "thing")
        let fields = Set(report.differences.map(\.field))
        #expect(fields.isSubset(of: ["y", "step y"]))
        #expect(!fields.isEmpty)
      }
    }
  }

  @Test func `a desync is reported within a round trip and a tick of its confirmation`() {
    let oneWay = Duration.milliseconds(100)
    var match = PeerMatch(
      Swarm(count: 8, seed: 5), window: 30, seed: 1, conditions: LinkConditions(oneWay: oneWay))
    var hands = [SwarmHand(seed: 3), SwarmHand(seed: 4)]
    match.play(until: .zero + .seconds(3)) { player, _ in hands[player].input() }
    let tick = match.sessions[0].damage { $0.damage = 1 }
    var confirmedAt: Instant?
    while match.desyncs.count < 2, match.now < .zero + .seconds(5) {
      let end = match.now + .milliseconds(1)
      match.play(until: end) { player, _ in hands[player].input() }
      match.network.advance(to: end)
      if confirmedAt == nil,
        match.sessions.allSatisfy({ $0.rollback.confirmedTick >= tick.next })
      {
        confirmedAt = match.now
      }
    }
    #expect(match.desyncs.count == 2)
    let limit = oneWay * 2 + .milliseconds(17) + .milliseconds(1)
    for time in match.desyncTimes { #expect(time - (confirmedAt ?? .zero) <= limit) }
  }

  @Test func `300 ms and 20 % loss cause no false desync`() {
    let line = LinkConditions(
      oneWay: .milliseconds(150), jitter: .uniform(.milliseconds(20)), loss: 0.2)
    let seconds = matchSeconds(debug: 12)
    var match = PeerMatch(Rink(), window: 30, seed: 9, conditions: line)
    var players = [
      ComputerPlayer(.home, strength: .hard, seed: 5), ComputerPlayer(.away, seed: 6),
    ]
    match.play(until: .zero + .seconds(seconds)) { player, session in
      players[player].play(session.state.state)
    }
    #expect(match.desyncs.isEmpty)
    #expect(match.sessions.allSatisfy { $0.peers.contains { $0.detector.compared > 20 * seconds } })
  }

  @Test func `only hashes of the same tick are compared, even of ticks that share a slot`() {
    var detector = DesyncDetector()
    detector.record(9, at: Tick(133), local: nil)
    // The hashes that wait are stored by their tick modulo 128.
    detector.confirm(Tick(5), hash: 8)
    #expect(detector.state == .equal && detector.compared == 0)
    detector.confirm(Tick(133), hash: 9)
    #expect(detector.state == .equal && detector.compared == 1)
    detector.record(9, at: Tick(134), local: nil)
    detector.confirm(Tick(134), hash: 8)
    #expect(detector.state == .found(Tick(134)))
  }

  @Test func `a desync of the rink names the puck`() throws {
    var match = PeerMatch(
      Rink(), window: 20, seed: 9, conditions: LinkConditions(oneWay: .milliseconds(30)))
    match.play(until: .zero + .seconds(2)) { player, _ in RinkInput() }
    match.sessions[1].damage { rink in
      var state = rink.state
      state.puck.velocity.y += 1
      rink = Rink(state)
    }
    match.play(until: .zero + .seconds(3)) { player, _ in RinkInput() }
    let report = try #require(match.desyncs.first { $0.player == 1 })
    #expect(report.differences.first?.entity == "puck")
    #expect(report.differences.first?.field == "velocity y")
    #expect(
      report.description
        == "desync with player 1 at tick \(report.tick): puck 0, velocity y is 0 here and 1 there")
  }
}

extension RollbackSession {
  /// Changes the state before the next tick to be confirmed, so that no rollback repairs it.
  /// Returns that tick.
  @discardableResult
  mutating func damage(_ change: (inout Game) -> Void) -> Tick {
    let tick = rollback.confirmedTick
    guard tick < rollback.tick else {
      change(&rollback.game)
      return tick
    }
    change(&rollback.saves[rollback.slot(tick)])
    rollback.rollBack(to: tick)
    return tick
  }
}
