import Testing

@testable import CaromSimulation

@Suite struct SimulationTests {
  /// A simulation that implements only what it must.
  private struct Plain: Simulation {
    var sum: UInt64 = 0
    var hash: UInt64 { ~sum }
    mutating func step(_ inputs: Span<NumberInput>, events: inout [Never]) { sum += 1 }
  }

  @Test func `by default a state is copied as a whole, and described by its hash`() {
    var plain = Plain()
    plain.copy(Plain(sum: 7))
    #expect(plain.sum == 7)
    var description = SimulationDescription()
    plain.describe(into: &description)
    #expect(
      description.entities == [
        .init(name: "state", number: 0, fields: [.init(name: "hash", value: -8)])
      ])
    #expect(Plain.playerCounts == 1...64)
  }

  @Test func `by default an input is held as it is, and the later of two counts`() {
    #expect(NumberInput(value: 3).held == NumberInput(value: 3))
    #expect(NumberInput(value: 3).merged(with: NumberInput(value: 4)) == NumberInput(value: 4))
  }

  @Test func `fields belong to the entity added last, and numbers keep all their bits`() {
    var description = SimulationDescription()
    description.entity("ship", 3)
    description.field("x", Int64(-1))
    description.entity("ball")
    description.field("y", -0.0)
    description.field("z", Int64.max)
    #expect(
      description.entities == [
        .init(name: "ship", number: 3, fields: [.init(name: "x", value: -1)]),
        .init(
          name: "ball", number: 0,
          fields: [.init(name: "y", value: .min), .init(name: "z", value: .max)]),
      ])
  }

  @Test func `the limits are those of the wire format`() {
    #expect(SimulationLimits.players == 64)
    #expect(SimulationLimits.inputFields == 16)
    #expect(SimulationLimits.ticksInPacket == 127)
    #expect(SimulationLimits.window == 30)
    #expect(SimulationLimits.inputDelay == 30)
  }
}
