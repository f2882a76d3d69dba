import CaromCore
import CaromSimulation
import Testing

@testable import WebGame

struct HeldInputTests {
  @Test func `an input lasts until another one is set, without its one-time actions`() {
    var input = HeldInput<Step.Input>()
    #expect(input.take() == Step.Input())
    input.set(Step.Input(direction: 3, jumps: true))
    #expect(input.take() == Step.Input(direction: 3, jumps: true))
    #expect(input.take() == Step.Input(direction: 3))
    #expect(input.take() == Step.Input(direction: 3))
    input.set(Step.Input(direction: -1))
    #expect(input.take() == Step.Input(direction: -1))
  }

  @Test func `inputs that share a tick are merged, so that no action is lost`() {
    var input = HeldInput<Step.Input>()
    input.set(Step.Input(direction: 3, jumps: true))
    input.set(Step.Input(direction: 4))
    #expect(input.take() == Step.Input(direction: 4, jumps: true))
    input.set(Step.Input(direction: 5))
    #expect(input.take() == Step.Input(direction: 5))
  }
}
