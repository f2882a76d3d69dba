import CaromCore
import Testing

@testable import CaromSimulation

@Suite struct RollbackInputTests {
  @Test func `inputs are stored for 200 ticks from the confirmed one, and then remain stored`() {
    var rollback = Rollback(Swarm(count: 2, seed: 1), players: 2)
    let inputs = (0..<400).map { Swarm.Input(push: Int32($0 % 100)) }
    for first in stride(from: 0, to: 400, by: 100) {
      let run = Array(inputs[first..<first + 100])
      rollback.addInputs(run, for: 1, from: Tick(UInt64(first)))
    }
    #expect(rollback.knownInput(for: 1, at: Tick(199)) == inputs[199])
    #expect(rollback.knownInput(for: 1, at: Tick(200)) == nil)
    for _ in 0..<10 {
      rollback.addInput(Swarm.Input(), for: 0)
      rollback.advance()
    }
    #expect(rollback.confirmedTick == Tick(10))
    rollback.addInputs(Array(inputs[150..<250]), for: 1, from: Tick(150))
    let stored = (0..<211).map { rollback.knownInput(for: 1, at: Tick($0)) }
    #expect(stored == inputs[0..<210].map { $0 } + [nil])
  }
}
