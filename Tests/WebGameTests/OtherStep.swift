import CaromCore
import CaromSimulation

/// Another version of `Step`, with the same encoding: player 0 goes by itself.
struct OtherStep: Simulation, PacketCodable {
  private var game = Step()

  static var playerCounts: ClosedRange<Int> { Step.playerCounts }
  var hash: UInt64 { game.hash }

  mutating func step(_ inputs: Span<Step.Input>, events: inout [Step.Event]) {
    game.step(inputs, events: &events)
    game.places[0] &+= 1
  }

  func encode(into writer: inout PacketWriter) { game.encode(into: &writer) }
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    game = try Step(decoding: &reader)
  }
}
