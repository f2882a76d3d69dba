import CaromPhysics
import CaromSimulation
import Testing

@testable import AirHockey

@Test func `a mirrored match plays mirrored exactly`() {
  var inputs = RandomInputs(seed: 5)
  var rink = Rink()
  var mirror = Rink(rink.state.mirrored)
  for _ in 0..<scaled(debug: 3_000, release: 30_000) {
    let home = inputs.input()
    let away = inputs.input()
    _ = rink.step(home: home, away: away)
    _ = mirror.step(home: away.mirrored, away: home.mirrored)
    #expect(mirror.state == rink.state.mirrored)
    #expect(mirror.state.mirrored == rink.state)
    guard mirror.state == rink.state.mirrored else { return }
  }
}

@Test func `the puck stays on the table and under its speed limit for any inputs`() {
  var inputs = RandomInputs(seed: 9)
  var rink = Rink()
  var goals = 0
  for _ in 0..<scaled(debug: 5_000, release: 100_000) {
    let events = rink.step(home: inputs.input(), away: inputs.input())
    if events.winner != nil { rink.startMatch() }
    goals += events.goal == nil ? 0 : 1
    let puck = rink.state.puck
    guard Bounds.contains(puck), puck.velocity.vector.length < Preset.puckSpeedCap + 1e-6 else {
      Issue.record("at \(rink.state)")
      return
    }
  }
  #expect(goals > 0)
}

@Test func `mallets stay in their halves and under their speed limit`() {
  var inputs = RandomInputs(seed: 11)
  var rink = Rink()
  for _ in 0..<scaled(debug: 3_000, release: 30_000) {
    let before = rink.state
    _ = rink.step(home: inputs.input(), away: inputs.input())
    for seat in Seat.allCases {
      let moved = rink.state[mallet: seat].vector - before[mallet: seat].vector
      guard Bounds.contains(mallet: rink.state[mallet: seat], of: seat),
        moved.length <= Preset.malletSpeedLimit * Preset.step + 1e-9
      else {
        Issue.record("\(seat) at \(rink.state)")
        return
      }
    }
  }
}

@Test func `a rink that is created from a saved state continues identically`() {
  var match = makeMatch(seed: 4)
  for _ in 0..<400 { match.step() }
  var saved = Rink(match.rink.state)
  var players = (match.home, match.away)
  for _ in 0..<400 {
    match.step()
    _ = saved.step(
      home: players.0.input(for: saved.state), away: players.1.input(for: saved.state))
  }
  #expect(saved.hash == match.rink.hash)
  #expect(saved == match.rink)
}
