import CaromCore
import CaromPhysics
import CaromSimulation
import Testing

@testable import AirHockey

/// All merged sequences of two lists that keep the order within each list.
private func interleavings<Element>(_ a: [Element], _ b: [Element]) -> [[Element]] {
  guard let first = a.first else { return [b] }
  guard let second = b.first else { return [a] }
  return interleavings(Array(a.dropFirst()), b).map { [first] + $0 }
    + interleavings(a, Array(b.dropFirst())).map { [second] + $0 }
}

@Test(arguments: [
  ([RinkCommand.pause(.home)], [RinkCommand.pause(.away)]),
  ([.pause(.home), .resume(.home)], [.pause(.away)]),
  ([.pause(.home), .resume(.home)], [.pause(.away), .resume(.away)]),
  ([.pause(.home), .resume(.home), .pause(.home)], [.pause(.away), .resume(.away)]),
])
func `pauses of both sides give the same state in every interleaving`(
  home: [RinkCommand], away: [RinkCommand]
) {
  var results: Set<RinkState> = []
  for order in interleavings(home, away) {
    var rink = makeRink(velocity: Vector(1, 0.3))
    for command in order { rink.apply(command) }
    for _ in 0..<10 { _ = rink.step(home: resting.home, away: resting.away) }
    results.insert(rink.state)
  }
  #expect(results.count == 1)
}

@Test func `a resume does not end the other side's pause`() {
  var rink = makeRink(velocity: Vector(1, 0.3))
  rink.apply(.pause(.home))
  #expect(rink.apply(.resume(.away)) == false)
  #expect(rink.state.isPaused)
  rink.apply(.resume(.home))
  #expect(!rink.state.isPaused)
}

@Test func `while the match is paused only the tick changes`() {
  var rink = makeRink(velocity: Vector(1, 0.3))
  let running = rink.state
  rink.apply(.pause(.away))
  for _ in 0..<100 {
    #expect(rink.step(home: resting.away.mirrored, away: resting.home) == RinkEvents())
  }
  rink.apply(.resume(.away))
  var expected = running
  expected.tick = rink.state.tick
  #expect(rink.state == expected)
}

@Test(arguments: 0...4)
func `a pause around the winning goal is replayed to the same state`(pauseTick: Int) {
  var state = makeRink(puck: Vector(0.9, 0.05), velocity: Vector(1.5, 0)).state
  state.score = Score(home: 6, away: 6)
  func replay() -> Rink {
    var rink = Rink(state)
    for tick in 0..<20 {
      if tick == pauseTick { rink.apply(.pause(.away)) }
      if tick == pauseTick + 8 { rink.apply(.resume(.away)) }
      _ = rink.step(home: resting.home, away: resting.away)
    }
    return rink
  }
  #expect(replay() == replay())
  #expect(replay().state.score == Score(home: 7, away: 6))
  #expect(replay().state.phase == .matchEnd(winner: .home))
}

/// WireFormat, The exact step of a match, Tick.
@Test(arguments: [[], .home, .away, [.home, .away]] as [Pauses])
func `a next match leaves the pauses as they are, and a restart clears them`(pauses: Pauses) {
  var state = makeRink(phase: .matchEnd(winner: .home)).state
  state.pauses = pauses
  for (request, expected) in [(RinkInput.Request.startMatch, pauses), (.restart, [])] {
    var rink = Rink(state)
    var events: [RinkEvent] = []
    rink.step([RinkInput(nil, request: request), RinkInput()].span, events: &events)
    #expect(events == [.matchStarted])
    #expect(rink.state.match == state.match + 1)
    #expect(rink.state.pauses == expected)
  }
}

@Test func `a host requests the next match after 180 ticks, but not while the match is paused`() {
  var host = makeFinishedHost()
  #expect(host.state.phase == .matchEnd(winner: .home))
  host.request(.pause)
  var events: [RinkEvent] = []
  for _ in 0..<400 { events += host.step(home: resting.home) }
  #expect(events == [.paused(.home)])
  host.request(.resume)
  for _ in 0..<2 { events += host.step(home: resting.home) }
  #expect(events == [.paused(.home), .resumed(.home), .matchStarted])
}
