import CaromPhysics
import Testing

@testable import AirHockey

@Test func `a shot into the goal counts once, and the other side serves`() {
  var rink = makeRink(puck: Vector(0.9, 0.05), velocity: Vector(6, 0))
  var goals: [Seat] = []
  var serves: [Seat] = []
  for _ in 0..<200 {
    let events = rink.step(home: resting.home, away: resting.away)
    if let scorer = events.goal { goals.append(scorer) }
    if let server = events.serve { serves.append(server) }
  }
  #expect(goals == [.home])
  #expect(serves == [.away])
  #expect(rink.state.score == Score(home: 1, away: 0))
  #expect(rink.state.puck.position == LatticePoint(Vector(Preset.serveDistance, 0)))
}

@Test func `the seventh goal ends the match, and the next begins on request`() {
  var state = makeRink(puck: Vector(-0.9, 0.05), velocity: Vector(-6, 0)).state
  state.score = Score(home: 6, away: 6)
  var rink = Rink(state)
  #expect(rink.apply(.startMatch(.home)) == false)
  let events = rink.step(home: resting.home, away: resting.away)
  #expect(events.goal == .away)
  #expect(events.winner == .away)
  #expect(rink.state.phase == .matchEnd(winner: .away))
  for _ in 0..<100 {
    let later = rink.step(home: resting.home, away: resting.away)
    #expect(later == RinkEvents())
  }
  #expect(rink.apply(.startMatch(.home)) == true)
  #expect(rink.state.score == Score())
  #expect(rink.state.match == 2)
  #expect(rink.state.tick.rawValue == 101)
}

@Test func `keeping the puck for seven seconds is a foul, and the other side serves`() {
  var rink = makeRink(puck: Vector(0.5, 0.3))
  var fouls: [Seat] = []
  var ticks = 0
  while fouls.isEmpty, ticks < 1_000 {
    if let seat = rink.step(home: resting.home, away: resting.away).foul { fouls.append(seat) }
    ticks += 1
  }
  #expect(fouls == [.away])
  // The first tick determines the half of the puck.
  #expect(ticks == Int(Preset.possessionTicks) + 1)
  for _ in 0..<Preset.foulPauseTicks { _ = rink.step(home: resting.home, away: resting.away) }
  #expect(rink.state.phase == .serve(.home, remaining: Preset.serveTicks))
}

@Test func `a player who does not serve within ten seconds commits a foul`() {
  var rink = makeRink(
    puck: Vector(-Preset.serveDistance, 0), phase: .serve(.home, remaining: Preset.serveTicks))
  for _ in 1..<Preset.serveTicks {
    #expect(rink.step(home: resting.home, away: resting.away).foul == nil)
  }
  #expect(rink.step(home: resting.home, away: resting.away).foul == .home)
}

@Test func `a serve is in play once the server strikes it`() {
  var rink = makeRink(
    puck: Vector(-Preset.serveDistance, 0), phase: .serve(.home, remaining: Preset.serveTicks))
  let strike = MalletInput(Vector(-0.2, 0))
  var ticks = 0
  while !rink.step(home: strike, away: resting.away).touches.contains(.homeMallet), ticks < 60 {
    ticks += 1
  }
  #expect(rink.state.phase == .playing(half: .home, remaining: Preset.possessionTicks))
}

@Test func `a puck at rest on the center line is faced off again`() {
  var rink = makeRink(puck: Vector(0, 0.2))
  for _ in 0..<Preset.possessionTicks { _ = rink.step(home: resting.home, away: resting.away) }
  guard case .faceOff = rink.state.phase else {
    Issue.record("\(rink.state.phase)")
    return
  }
  #expect(rink.state.puck == PuckState(position: .zero))
}

@Test func `the face-off releases the puck once and takes one to three seconds`() {
  for match: UInt16 in [0, 1, 2, 77, .max] {
    var rink = Rink(match: match)
    var released: [UInt64] = []
    for _ in 0..<200 {
      let events = rink.step(home: resting.home, away: resting.away)
      if events.faceOff { released.append(rink.state.tick.rawValue) }
    }
    #expect(released.count == 1)
    #expect((60...180).contains(released.first ?? 0))
  }
}
