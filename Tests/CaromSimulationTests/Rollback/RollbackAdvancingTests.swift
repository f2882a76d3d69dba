import CaromCore
import Testing

@testable import CaromSimulation

@Suite struct RollbackAdvancingTests {
  private static let start = Tick(1_000)

  private func makeRollback(window: Int = 8, seed: UInt64 = 1) -> Rollback<Swarm> {
    Rollback(Swarm(count: 2, seed: seed), players: 2, window: window, at: Self.start)
  }

  private func push(_ value: Int32) -> Swarm.Input { Swarm.Input(push: value) }

  private func tick(_ offset: Int64) -> Tick { Self.start.advanced(by: offset) }

  /// The state after steps with these inputs of both players.
  private func play(_ pushes: [(Int32, Int32)]) -> Swarm {
    var game = Swarm(count: 2, seed: 1)
    var events: [Swarm.Event] = []
    for (first, second) in pushes {
      let inputs = [push(first), push(second)]
      game.step(inputs.span, events: &events)
    }
    return game
  }

  @Test(arguments: [0, 1, 3, 30])
  func `a simulation runs as many ticks ahead as its window has, then stalls`(window: Int) {
    var rollback = makeRollback(window: window)
    for _ in 0..<window { #expect(rollback.advance() == .stepped) }
    for _ in 0..<3 { #expect(rollback.advance() == .stalled) }
    #expect(rollback.tick == tick(Int64(window)) && rollback.confirmedTick == Self.start)
    for player in 0...1 { rollback.addInput(push(0), for: player) }
    #expect(rollback.advance() == .stepped)
    #expect(rollback.advance() == .stalled)
    #expect(rollback.confirmedTick == tick(1) && rollback.confirmableTick == tick(1))
    #expect(rollback.statistics.steps == window + 1 && rollback.statistics.stalls == 4)
    #expect(rollback.statistics.rollbacks == 0)
  }

  @Test func `a rollback begins at the earliest wrong tick, and is counted with its depth`() {
    var rollback = makeRollback()
    for _ in 0..<5 { rollback.advance() }
    for value in [0, 0, 4, 4] as [Int32] { rollback.addInput(push(value), for: 1) }
    for value in [0, 9] as [Int32] { rollback.addInput(push(value), for: 0) }
    rollback.advance()
    #expect(rollback.statistics.rollbacks == 1)
    #expect(rollback.statistics.resimulatedSteps == 4)
    #expect(rollback.statistics.deepestRollback == 4)
    #expect(rollback.state.hash == play([(0, 0), (9, 0), (9, 4), (9, 4), (9, 4), (9, 4)]).hash)
    #expect(rollback.confirmedTick == tick(2))
    // What was predicted changes nothing when it arrives.
    for value in [9, 9, 9] as [Int32] { rollback.addInput(push(value), for: 0) }
    rollback.advance()
    #expect(rollback.statistics.rollbacks == 1 && rollback.confirmedTick == tick(4))
    rollback.addInput(push(4), for: 1)
    rollback.addInput(push(5), for: 1)
    rollback.advance()
    #expect(rollback.statistics.rollbacks == 2)
    #expect(rollback.statistics.resimulatedSteps == 6)
    #expect(rollback.statistics.deepestRollback == 4)
    #expect(rollback.statistics.steps == 8)
  }

  @Test func `the states since the confirmed tick and the 96 before it are stored`() {
    var rollback = makeRollback(window: 30)
    var hashes = [rollback.state.hash]
    for index in 0..<200 {
      for player in 0...1 { rollback.addInput(push(Int32(index % 90)), for: player) }
      rollback.advance()
      hashes.append(rollback.state.hash)
    }
    for _ in 0..<30 {
      rollback.advance()
      hashes.append(rollback.state.hash)
    }
    #expect(rollback.confirmedTick == tick(200) && rollback.tick == tick(230))
    for offset in 0...232 {
      let isStored = offset >= 103 && offset <= 230
      #expect(rollback.state(at: tick(Int64(offset)))?.hash == (isStored ? hashes[offset] : nil))
      let isHashed = offset >= 74 && offset <= 200
      #expect(rollback.hash(at: tick(Int64(offset))) == (isHashed ? hashes[offset] : nil))
    }
    #expect(Rollback<Swarm>.history == 96)
  }

  @Test func `there is no state, hash or input from before the first tick`() {
    var rollback = makeRollback()
    let first = rollback.state.hash
    #expect(rollback.hash(at: Self.start) == first)
    for player in 0...1 { rollback.addInput(push(3), for: player) }
    rollback.advance()
    #expect(rollback.state(at: tick(0))?.hash == first)
    #expect(rollback.state(at: tick(-1)) == nil && rollback.hash(at: tick(-1)) == nil)
    #expect(rollback.knownInput(for: 0, at: tick(-1)) == nil)
    #expect(rollback.knownInput(for: 0, at: tick(0)) == push(3))
    #expect(rollback.knownInput(for: 0, at: tick(1)) == nil)
  }

  @Test func `a prediction is the last input without its action, until another arrives`() {
    var rollback = makeRollback()
    rollback.addInput(Swarm.Input(push: 7, wish: .spawn), for: 1)
    for _ in 0..<3 { rollback.advance() }
    var events: [RollbackEvent<Swarm.Event>] = []
    while let event = rollback.pollEvent() { events.append(event) }
    #expect(events == [.predicted(.born(3), tick(0))])
    #expect(rollback.state.things.count == 3)
  }

  @Test func `each event is predicted, then retracted or confirmed, with its tick`() {
    var rollback = makeRollback()
    for _ in 0..<2 { rollback.advance() }
    rollback.addInput(Swarm.Input(push: 0, wish: .spawn), for: 1)
    rollback.advance()
    rollback.addInput(Swarm.Input(push: 0, wish: .kill), for: 0)
    rollback.advance()
    for player in [0, 0, 1, 1] { rollback.addInput(push(0), for: player) }
    rollback.advance()
    var events: [RollbackEvent<Swarm.Event>] = []
    while let event = rollback.pollEvent() { events.append(event) }
    #expect(
      events == [
        .predicted(.born(3), tick(0)), .predicted(.died(1), tick(0)),
        .confirmed(.died(1), tick(0)), .confirmed(.born(3), tick(0)),
      ])
    #expect(events.map(\.tick) == Array(repeating: tick(0), count: 4))
    #expect(events.map(\.event) == [.born(3), .died(1), .died(1), .born(3)])
  }

  @Test func `an event that a correction undoes is retracted`() {
    var rollback = makeRollback()
    rollback.addInput(Swarm.Input(), for: 1)
    rollback.addInput(Swarm.Input(push: 0, wish: .spawn), for: 1)
    for _ in 0..<3 { rollback.advance() }
    // Player 0 spawned before, so that player 1's thing has another number.
    rollback.addInput(Swarm.Input(push: 0, wish: .spawn), for: 0)
    rollback.advance()
    rollback.addInput(Swarm.Input(), for: 0)
    rollback.advance()
    var events: [RollbackEvent<Swarm.Event>] = []
    while let event = rollback.pollEvent() { events.append(event) }
    #expect(
      events == [
        .predicted(.born(3), tick(1)), .predicted(.born(3), tick(0)),
        .retracted(.born(3), tick(1)), .predicted(.born(4), tick(1)),
        .confirmed(.born(3), tick(0)), .confirmed(.born(4), tick(1)),
      ])
    #expect(events[2].event == .born(3) && events[2].tick == tick(1))
  }

  @Test func `the queue holds 4,096 events, then drops the oldest and counts them`() {
    var rollback = Rollback(Chatter(), players: 1, window: 8)
    for _ in 0..<41 {
      rollback.addInput(NumberInput(), for: 0)
      rollback.advance()
    }
    // Equal events of one tick count as one: 50 predicted and 50 confirmed in each tick.
    #expect(rollback.statistics.droppedEvents == 4)
    var count = 0
    let first = rollback.pollEvent()
    #expect(first == .predicted(4, .zero))
    while rollback.pollEvent() != nil { count += 1 }
    #expect(count == 4_095)
  }

  @Test func `a disconnected player is neutral from the given tick on, also in ticks behind`() {
    var rollback = makeRollback()
    for value in [5, 5, 5, 5] as [Int32] { rollback.addInput(push(value), for: 1) }
    for value in [1, 1] as [Int32] { rollback.addInput(push(value), for: 0) }
    for _ in 0..<5 { rollback.advance() }
    #expect(rollback.confirmedTick == tick(2))
    rollback.disconnect(player: 1, at: tick(2))
    rollback.disconnect(player: 1, at: tick(4))
    rollback.advance()
    #expect(rollback.statistics.rollbacks == 1 && rollback.statistics.resimulatedSteps == 3)
    let expected: [(Int32, Int32)] = [(1, 5), (1, 5), (1, 0), (1, 0), (1, 0), (1, 0)]
    #expect(rollback.state.hash == play(expected).hash)
    #expect(rollback.knownInput(for: 1, at: tick(1)) == push(5))
    #expect(rollback.knownInput(for: 1, at: tick(2)) == push(0))
    #expect(rollback.knownInput(for: 1, at: tick(900)) == push(0))
    // An input of the player that arrives after all changes nothing.
    rollback.addInput(push(90), for: 1)
    rollback.advance()
    #expect(rollback.statistics.rollbacks == 1)
    // Nobody waits for the player any more.
    #expect(rollback.confirmableTick == tick(2))
    for _ in 0..<10 { rollback.addInput(push(1), for: 0) }
    #expect(rollback.confirmableTick == tick(12))
    rollback.disconnect(player: 0, at: tick(12))
    #expect(rollback.confirmableTick == rollback.tick.next)
  }

  @Test func `a player who leaves in a later tick counts until then`() {
    var rollback = makeRollback()
    rollback.disconnect(player: 1, at: tick(3))
    for _ in 0..<9 { rollback.addInput(push(1), for: 0) }
    #expect(rollback.confirmableTick == tick(0))
    for _ in 0..<2 { rollback.addInput(push(2), for: 1) }
    #expect(rollback.confirmableTick == tick(2))
    rollback.addInput(push(2), for: 1)
    #expect(rollback.confirmableTick == tick(9))
    for _ in 0..<4 { rollback.advance() }
    #expect(rollback.state.hash == play([(1, 2), (1, 2), (1, 2), (1, 0)]).hash)
  }
}

/// A simulation that emits every event twice.
private struct Chatter: Simulation {
  var hash: UInt64 { 1 }
  mutating func step(_ inputs: Span<NumberInput>, events: inout [Int]) {
    for event in 0..<50 { events += [event, event] }
  }
}
