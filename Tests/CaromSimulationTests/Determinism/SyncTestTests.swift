import AirHockey
import CaromCore
import Testing

@testable import CaromSimulation

@Suite struct SyncTestTests {
  @Test func `every tick of a played match can be rolled back by eight ticks`() throws {
    let ticks = scaled(debug: 3_600, release: 36_000)
    var test = SyncTest(Rink(), distance: 8)
    var players = (
      ComputerPlayer(.home, strength: .hard, seed: 3), ComputerPlayer(.away, seed: 4)
    )
    var goals = 0
    var touches = 0
    for tick in 0..<ticks {
      let state = test.game.state
      var isOver = false
      if case .matchEnd = state.phase { isOver = true }
      let request: RinkInput.Request? =
        isOver ? .startMatch : tick % 500 == 100 ? .pause : tick % 500 == 110 ? .resume : nil
      try test.step([
        RinkInput(players.0.input(for: state), request: request),
        RinkInput(players.1.input(for: state)),
      ])
      goals += test.events.count { if case .goal = $0 { true } else { false } }
      touches += test.events.count { if case .touch = $0 { true } else { false } }
    }
    #expect(test.rollbacks == ticks - 7)
    #expect(test.comparisons == test.rollbacks * 9)
    #expect(goals > ticks / 3_600)
    #expect(touches > ticks / 60)
  }

  @Test func `a thousand objects that spawn and die can be rolled back by thirty ticks`() throws {
    var test = SyncTest(Swarm(count: scaled(debug: 50, release: 1_000), seed: 3), distance: 30)
    var hands = [SwarmHand(seed: 1), SwarmHand(seed: 2)]
    for _ in 0..<scaled(debug: 200, release: 300) {
      try test.step(hands.indices.map { hands[$0].input() })
    }
    #expect(test.rollbacks > 100)
  }

  @Test func `a dependency outside the state is detected`() throws {
    var test = SyncTest(Leaky(), distance: 4)
    #expect(throws: SyncTestFailure.self) {
      for _ in 0..<10 { try test.step([Swarm.Input()]) }
    }
  }

  @Test func `a failure names the first tick that differs, and how`() throws {
    var test = SyncTest(Leaky(), distance: 2, at: Tick(50))
    try test.step([Swarm.Input()])
    #expect(test.rollbacks == 0 && test.comparisons == 0 && test.tick == Tick(51))
    var failure: SyncTestFailure?
    for _ in 0..<3 where failure == nil {
      do throws(SyncTestFailure) { try test.step([Swarm.Input()]) } catch { failure = error }
    }
    let found = try #require(failure)
    #expect(found.tick == Tick(52) && !found.eventsDiffer)
    #expect(found.differences.count == 1 && found.differences.first?.field == "hash")
    #expect(found.differences.first.map { $0.mine < $0.theirs } == true)
    var events = SyncTest(Forgetful(), distance: 2, at: Tick(50))
    try events.step([Swarm.Input()])
    #expect(events.events == [1] && events.distance == 2)
    try events.step([Swarm.Input()])
    #expect(throws: SyncTestFailure(tick: Tick(51), differences: [], eventsDiffer: true)) {
      try events.step([Swarm.Input()])
    }
  }
}

/// A simulation whose events depend on something outside its state.
private struct Forgetful: Simulation {
  var sum: Int64 = 0
  var seen: Int64 = 0

  mutating func step(_ inputs: Span<Swarm.Input>, events: inout [Int64]) {
    seen += 1
    sum += 1
    events.append(seen)
  }
  var hash: UInt64 { UInt64(bitPattern: sum) }
  mutating func copy(_ other: Forgetful) { sum = other.sum }
}

/// A simulation whose `copy(_:)` omits a field.
private struct Leaky: Simulation {
  var seen = 0
  var kept: Int64 = 0

  mutating func step(_ inputs: Span<Swarm.Input>, events: inout [Never]) {
    seen += 1
    kept += Int64(seen)
  }
  var hash: UInt64 { UInt64(bitPattern: kept) }
  mutating func copy(_ other: Leaky) { kept = other.kept }
}
