import AirHockey
import CaromCore
import CaromSimulation

/// A match that one peer simulates wrongly at a chosen tick, so that the two peers diverge from
/// there on.
struct RollbackFaultyRink: Simulation {
  var rink = Rink()
  /// The tick to simulate wrongly; not part of the simulation's state.
  var fault: Tick?

  init(fault: Tick? = nil) { self.fault = fault }

  mutating func step(_ inputs: Span<RinkInput>, events: inout [RinkEvent]) {
    let isWrong = fault == rink.state.tick
    rink.step(inputs, events: &events)
    guard isWrong else { return }
    var state = rink.state
    state.puck.position.y += 1
    rink = Rink(state)
  }

  var hash: UInt64 { rink.hash }
  mutating func copy(_ other: RollbackFaultyRink) { rink.copy(other.rink) }
  func describe(into description: inout SimulationDescription) {
    rink.describe(into: &description)
  }
}

extension RollbackFaultyRink: PacketCodable {
  func encode(into writer: inout PacketWriter) { rink.encode(into: &writer) }
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    rink = try Rink(decoding: &reader)
  }
}
