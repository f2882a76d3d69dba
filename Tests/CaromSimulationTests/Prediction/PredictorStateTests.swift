import CaromCore
import Testing

@testable import CaromSimulation

/// Which states and inputs a predictor stores, and from which it simulates again.
@Suite struct PredictorStateTests {
  private static func step(_ game: inout Swarm, _ pushes: [Int32]) {
    var events: [Swarm.Event] = []
    let inputs = pushes.map { Swarm.Input(push: $0) }
    game.step(inputs.span, events: &events)
  }

  /// A prediction of `ticks` ticks from tick 1,000 on, and the states before each of them.
  private func predict(_ ticks: Int) -> (client: Predictor<Swarm>, states: [Swarm]) {
    var game = Swarm(count: 4, seed: 3)
    var client = Predictor(game, players: 2, player: 1, at: Tick(1_000))
    var states = [game]
    for tick in 0..<ticks {
      let push = Int32(tick % 50)
      client.advance(with: Swarm.Input(push: push))
      Self.step(&game, [0, push])
      states.append(game)
    }
    return (client, states)
  }

  @Test func `the last 128 states and 256 inputs are stored`() {
    let (client, states) = predict(300)
    #expect(client.tick == Tick(1_300) && client.confirmedTick == Tick(1_000))
    for (tick, isStored) in [(1_300, true), (1_299, true), (1_173, true), (1_172, false)] {
      let hash = client.predictedState(at: Tick(UInt64(tick)))?.hash
      #expect(hash == (isStored ? states[tick - 1_000].hash : nil))
    }
    #expect(client.predictedState(at: Tick(1_301)) == nil)
    #expect(client.input(at: Tick(1_299)) == Swarm.Input(push: 49))
    #expect(client.input(at: Tick(1_044)) == Swarm.Input(push: 44))
    #expect(client.input(at: Tick(1_043)) == nil && client.input(at: Tick(1_300)) == nil)
    let (young, first) = predict(2)
    #expect(young.predictedState(at: Tick(999)) == nil)
    #expect(young.predictedState(at: Tick(1_000))?.hash == first[0].hash)
  }

  @Test(arguments: [(1_173, 127), (1_172, 0), (1_300, 0), (1_301, 0), (1_290, 10)])
  func
    `a different state of the last 127 ticks is simulated from, any other replaces the prediction`(
      tick: Int, steps: Int
    )
  {
    var (client, _) = predict(300)
    var truth = Swarm(count: 5, seed: 9)
    let correction = client.reconcile(with: truth, at: Tick(UInt64(tick)))
    #expect(correction == .init(tick: Tick(UInt64(tick)), resimulatedSteps: steps))
    #expect(client.counts == (exact: 0, corrected: 1, stale: 0))
    #expect(client.confirmedTick == Tick(UInt64(tick)))
    let isReplaced = tick == 1_172 || tick == 1_301
    #expect(client.tick == Tick(isReplaced ? UInt64(tick) : 1_300))
    for step in 0..<steps { Self.step(&truth, [0, Int32((300 - steps + step) % 50)]) }
    #expect(client.state.hash == truth.hash)
    if isReplaced { #expect(client.input(at: Tick(UInt64(tick) - 1)) == nil) }
    // The ticks that were simulated again have new states, which a second report confirms.
    guard steps > 1 else { return }
    let again = client.predictedState(at: Tick(1_299))
    #expect(client.reconcile(with: again!, at: Tick(1_299))?.resimulatedSteps == 0)
    #expect(client.counts == (exact: 1, corrected: 1, stale: 0))
  }

  @Test func `a state that is not newer than the last one is ignored and counted`() {
    var (client, states) = predict(20)
    #expect(client.reconcile(with: states[0], at: Tick(1_000)) == nil)
    #expect(client.reconcile(with: states[8], at: Tick(1_008))?.resimulatedSteps == 0)
    #expect(client.reconcile(with: Swarm(count: 1, seed: 1), at: Tick(1_008)) == nil)
    #expect(client.reconcile(with: Swarm(count: 1, seed: 1), at: Tick(1_007)) == nil)
    #expect(client.counts == (exact: 1, corrected: 0, stale: 3))
    #expect(client.state.hash == states[20].hash)
  }

  @Test func `the other players' inputs are those assumed, also when ticks are simulated again`() {
    var game = Swarm(count: 4, seed: 3)
    var client = Predictor(game, players: 2, player: 1)
    client.assume(Swarm.Input(push: 30), for: 0)
    for _ in 0..<3 {
      client.advance(with: Swarm.Input(push: -5))
      Self.step(&game, [30, -5])
    }
    #expect(client.state.hash == game.hash)
    client.assume(Swarm.Input(push: -70), for: 0)
    var truth = Swarm(count: 4, seed: 5)
    _ = client.reconcile(with: truth, at: Tick(1))
    for _ in 0..<2 { Self.step(&truth, [-70, -5]) }
    #expect(client.state.hash == truth.hash)
  }

  @Test func `the events are those of the last step`() {
    var client = Predictor(Swarm(count: 1, seed: 3), players: 1, player: 0)
    client.advance(with: Swarm.Input(push: 0, wish: .spawn))
    #expect(client.lastEvents == [.born(2)])
    client.advance(with: Swarm.Input(push: 0, wish: .kill))
    #expect(client.lastEvents == [.died(1)])
    client.advance(with: Swarm.Input())
    #expect(client.lastEvents == [])
  }
}
