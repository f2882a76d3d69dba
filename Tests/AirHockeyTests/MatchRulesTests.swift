import CaromCore
import CaromPhysics
import CaromSimulation
import Testing

@testable import AirHockey

/// WireFormat, The exact step of a match, Tick.
@Suite struct MatchRulesTests {
  private func step(
    _ rink: inout Rink, _ home: RinkInput, _ away: RinkInput = RinkInput()
  ) -> [RinkEvent] {
    var events: [RinkEvent] = []
    rink.step([home, away].span, events: &events)
    return events
  }

  /// A rink in `phase` whose puck moves and spins.
  private func makeRink(_ phase: Phase, puck: Vector = Vector(0.3, 0.2)) -> Rink {
    var state = RinkState(match: 5, tick: Tick(900))
    state.phase = phase
    state.puck = PuckState(
      position: LatticePoint(puck), velocity: LatticePoint(x: 4_096, y: -8_192), spin: 77 << 32)
    return Rink(state)
  }

  @Test(arguments: Seat.allCases)
  func `a foul stops the puck and its spin where it is`(seat: Seat) {
    for phase in [Phase.playing(half: seat, remaining: 1), .serve(seat, remaining: 1)] {
      var rink = makeRink(phase, puck: Vector(0.3 * seat.side, 0.2))
      var moved = rink
      let events = rink.step(home: resting.home, away: resting.away)
      var expected = RinkEvents()
      expected.foul = seat
      #expect(events == expected)
      #expect(rink.state.phase == .foulPause(by: seat, remaining: 60))
      #expect(rink.state.puck.velocity == .zero && rink.state.puck.spin == 0)
      #expect(rink.state.puck.position != .zero)
      #expect(rink.state.score == Score() && rink.state.tick == Tick(901))
      _ = moved.step(home: resting.home, away: resting.away)
      #expect(moved == rink)
    }
  }

  @Test(arguments: Seat.allCases)
  func `a goal stops the puck and its spin on the goal line`(scorer: Seat) {
    var state = RinkState()
    state.phase = .playing(half: scorer.opponent, remaining: 1)
    state.score = Score(home: 2, away: 5)
    state.puck = PuckState(
      position: LatticePoint(Vector(-0.95 * scorer.side, 0.05)),
      velocity: LatticePoint(Vector(-6 * scorer.side, 0)), spin: 5 << 32)
    state[mallet: scorer.opponent] = LatticePoint(Vector(-0.7 * scorer.side, 0.4))
    var rink = Rink(state)
    let events = rink.step(
      home: MalletInput(Vector(-0.7, 0.4)), away: MalletInput(Vector(0.7, 0.4)))
    #expect(events.goal == scorer && events.foul == nil && events.winner == nil)
    #expect(rink.state.phase == .goalPause(scorer: scorer, remaining: 90))
    #expect(rink.state.puck.velocity == .zero && rink.state.puck.spin == 0)
    #expect(rink.state.puck.position.x.magnitude == UInt64(Bounds.puckX))
    var score = Score(home: 2, away: 5)
    score[scorer] += 1
    #expect(rink.state.score == score)
  }

  @Test func `each phase counts its ticks down, and is followed by the right one`() {
    let serves = PuckState(position: LatticePoint(Vector(-0.4, 0)))
    let other = PuckState(position: LatticePoint(Vector(0.4, 0)))
    for (phase, next, puck) in [
      (.faceOff(remaining: 2), .faceOff(remaining: 1), nil),
      (.faceOff(remaining: 1), .playing(half: nil, remaining: 420), nil),
      (.goalPause(scorer: .home, remaining: 2), .goalPause(scorer: .home, remaining: 1), nil),
      (.goalPause(scorer: .home, remaining: 1), .serve(.away, remaining: 600), other),
      (.goalPause(scorer: .away, remaining: 1), .serve(.home, remaining: 600), serves),
      (.foulPause(by: .home, remaining: 2), .foulPause(by: .home, remaining: 1), nil),
      (.foulPause(by: .home, remaining: 1), .serve(.away, remaining: 600), other),
      (.foulPause(by: .away, remaining: 1), .serve(.home, remaining: 600), serves),
      (.serve(.away, remaining: 2), .serve(.away, remaining: 1), nil),
      (.playing(half: .away, remaining: 2), .playing(half: .away, remaining: 1), nil),
      (.playing(half: .home, remaining: 2), .playing(half: .away, remaining: 420), nil),
      (.playing(half: nil, remaining: 1), .playing(half: .away, remaining: 420), nil),
      (.matchEnd(winner: .home), .matchEnd(winner: .home), nil),
    ] as [(Phase, Phase, PuckState?)] {
      var rink = makeRink(phase)
      let before = rink.state.puck
      let events = rink.step(home: resting.home, away: resting.away)
      #expect(rink.state.phase == next)
      #expect(events.faceOff == (phase == .faceOff(remaining: 1)))
      #expect(events.serve.map { Phase.serve($0, remaining: 600) } == (puck == nil ? nil : next))
      if let puck { #expect(rink.state.puck == puck) }
      // Only a puck in play moves.
      #expect((rink.state.puck != before) == (phase.isLive || puck != nil))
    }
  }

  @Test func `a puck that rests on the center line is put back for another face-off`() {
    var rink = makeRink(.playing(half: nil, remaining: 1), puck: Vector(0, 0.2))
    var state = rink.state
    state.puck.velocity.x = 0
    rink = Rink(state)
    let events = rink.step(home: resting.home, away: resting.away)
    #expect(events == RinkEvents())
    #expect(rink.state.phase == .faceOff(remaining: RinkState.faceOffTicks(of: 5)))
    #expect(rink.state.puck == PuckState(position: .zero) && rink.state.match == 5)
  }

  @Test(
    arguments: [(0, 60), (1, 149), (2, 163), (3, 132), (4, 146), (65_535, 101)]
      as [(UInt16, UInt16)])
  func `the wait before a face-off follows from the match's number`(match: UInt16, ticks: UInt16) {
    #expect(RinkState.faceOffTicks(of: match) == ticks)
  }

  @Test func `the seventh goal wins for either seat, the sixth does not`() {
    for (score, scorer) in [(Score(home: 6, away: 2), Seat.home), (Score(home: 6, away: 6), .away)]
    {
      var state = RinkState()
      state.phase = .playing(half: scorer.opponent, remaining: 9)
      state.score = score
      state.puck = PuckState(
        position: LatticePoint(Vector(-0.95 * scorer.side, 0.05)),
        velocity: LatticePoint(Vector(-6 * scorer.side, 0)))
      var rink = Rink(state)
      let events = rink.step(home: resting.home, away: resting.away)
      #expect(events.winner == scorer && events.goal == scorer)
      #expect(rink.state.phase == .matchEnd(winner: scorer) && rink.state.score[scorer] == 7)
    }
  }

  @Test(arguments: [
    Phase.faceOff(remaining: 9), .goalPause(scorer: .home, remaining: 9),
    .foulPause(by: .away, remaining: 9), .matchEnd(winner: .home),
  ])
  func `out of play, mallets stay behind, or move back to, the waiting distance`(phase: Phase) {
    var state = RinkState()
    state.phase = phase
    state.puck.position = LatticePoint(Vector(0.2, 0.45))
    state.homeMallet = LatticePoint(Vector(-0.06, -0.2))
    state.awayMallet = LatticePoint(Vector(0.8, -0.2))
    var rink = Rink(state)
    for _ in 0..<8 {
      _ = rink.step(home: MalletInput(Vector(0, -0.2)), away: MalletInput(Vector(0, -0.2)))
    }
    let near = Lattice.units(phase.isLive ? 0.04815 : 0.55)
    #expect(abs(rink.state.homeMallet.x + near) <= 1 && abs(rink.state.awayMallet.x - near) <= 1)
    for _ in 0..<8 {
      _ = rink.step(home: MalletInput(Vector(-1, 1)), away: MalletInput(Vector(1, -1)))
    }
    let far = LatticePoint(Vector(0.92585, 0.47085))
    #expect(rink.state.homeMallet == LatticePoint(x: -far.x, y: far.y))
    #expect(rink.state.awayMallet == LatticePoint(x: far.x, y: -far.y))
  }

  @Test func `a mallet moves straight to its target, at 7_5 meters per second at most`() {
    var rink = makeRink(.faceOff(remaining: 100))
    let target = MalletInput(Vector(-0.75 - 0.16, 0.12))
    _ = rink.step(home: target, away: resting.away)
    // 0.2 m away, the mallet moves by 7.5 / 60 = 0.125 m.
    let moved = rink.state.homeMallet.vector - Vector(-0.75, 0)
    #expect((moved - Vector(-0.1, 0.075)).length < 1e-9)
    _ = rink.step(home: target, away: resting.away)
    #expect((rink.state.homeMallet.vector - Vector(-0.91, 0.12)).length < 1e-9)
    #expect(rink.state.awayMallet == LatticePoint(Vector(0.75, 0)))
  }

  @Test func `only home may restart, in any phase, and the mallets stay where they are`() {
    var state = RinkState(match: 9, tick: Tick(70))
    state.phase = .playing(half: .home, remaining: 8)
    state.score = Score(home: 3, away: 1)
    state.pauses = .away
    state.homeMallet = LatticePoint(Vector(-0.6, 0.1))
    state.awayMallet = LatticePoint(Vector(0.7, -0.3))
    state.puck = PuckState(position: LatticePoint(Vector(-0.2, 0.2)), velocity: .zero, spin: 3)
    var rink = Rink(state)
    let restart = RinkInput(nil, request: .restart)
    #expect(step(&rink, RinkInput(), restart) == [])
    #expect(rink.state.score == state.score && rink.state.match == 9)
    #expect(step(&rink, restart) == [.matchStarted])
    var expected = RinkState(match: 10, tick: Tick(72))
    expected.homeMallet = state.homeMallet
    expected.awayMallet = state.awayMallet
    expected.phase = .faceOff(remaining: RinkState.faceOffTicks(of: 10) - 1)
    // An absent player's target is the mallet's own place, to the nearest 0.1 mm.
    #expect((rink.state.homeMallet.vector - state.homeMallet.vector).length < 1e-9)
    expected.homeMallet = rink.state.homeMallet
    expected.awayMallet = rink.state.awayMallet
    #expect(rink.state == expected)
    var last = Rink(RinkState(match: .max))
    #expect(step(&last, restart) == [.matchStarted] && last.state.match == 0)
  }

  @Test func `requests take effect before anything moves, home's before away's`() {
    var rink = makeRink(.playing(half: .away, remaining: 9))
    let before = rink.state
    let pause = RinkInput(nil, request: .pause)
    #expect(step(&rink, pause, pause) == [.paused(.home), .paused(.away)])
    var expected = before
    expected.tick = Tick(901)
    expected.pauses = [.home, .away]
    #expect(rink.state == expected)
    let resume = RinkInput(nil, request: .resume)
    #expect(step(&rink, resume, pause) == [.resumed(.home)])
    #expect(rink.state.pauses == .away && rink.state.puck == before.puck)
    #expect(step(&rink, resume, resume) == [.resumed(.away)])
    #expect(rink.state.puck != before.puck)
    for request in [RinkInput.Request.startMatch, .resume] {
      #expect(step(&rink, RinkInput(nil, request: request)) == [])
    }
    rink = makeRink(.matchEnd(winner: .home))
    let start = RinkInput(nil, request: .startMatch)
    #expect(step(&rink, start, start) == [.matchStarted] && rink.state.match == 6)
    rink = makeRink(.matchEnd(winner: .home))
    #expect(step(&rink, RinkInput(), start) == [.matchStarted] && rink.state.match == 6)
  }

  @Test func `touches and their speed are reported`() {
    for (puck, velocity, touches, impact) in [
      (Vector(0.2, 0.48), Vector(0, 3), RinkEvents.Touches.rail, 3),
      (Vector(-0.6, 0), Vector(-3, 0), .homeMallet, 3),
      (Vector(0.6, 0), Vector(5, 0), .awayMallet, 5),
      (Vector(0.93, 0.124), Vector(2, 0), .post, 2),
    ] as [(Vector, Vector, RinkEvents.Touches, Double)] {
      var state = RinkState()
      state.phase = .serve(.home, remaining: 50)
      state.puck = PuckState(position: LatticePoint(puck), velocity: LatticePoint(velocity))
      var rink = Rink(state)
      var events = RinkEvents()
      for _ in 0..<3 where events.touches.isEmpty {
        events = rink.step(home: resting.home, away: resting.away)
      }
      #expect(events.touches == touches)
      #expect(abs(events.impact - impact) < 0.1)
      #expect(rink.state.phase == .playing(half: puck.x < 0 ? .home : .away, remaining: 420))
      var list: [RinkEvent] = []
      events.append(to: &list)
      #expect(list == [.touch(touches.rawValue, impact: UInt8(events.impact))])
    }
    var events = RinkEvents()
    (events.touches, events.impact) = (.rail, 300)
    (events.goal, events.foul, events.serve, events.faceOff) = (.home, .away, .home, true)
    events.winner = .away
    var list: [RinkEvent] = []
    events.append(to: &list)
    #expect(
      list == [
        .touch(1, impact: 255), .goal(.home), .foul(.away), .serve(.home), .faceOff, .won(.away),
      ])
  }
}
