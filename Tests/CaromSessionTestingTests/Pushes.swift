import CaromSessionTesting

/// A game of up to three players that adds up what they push. An input is always another than the
/// one before it, so that a player whose input was replaced notices it.
struct Pushes: Simulation, PacketCodable, Hashable {
  struct Push: SimulationInput {
    var strength: Int32 = 0

    init() {}
    init(at tick: Tick?) { strength = Int32(tick?.rawValue ?? 0) % 50 }
    static var fieldCount: Int { 1 }
    func field(_ index: Int) -> Int32 { strength }
    init(fields: Span<Int32>) throws(DecodeError) { strength = fields[0] }
  }

  static var playerCounts: ClosedRange<Int> { 1...3 }
  var sum: UInt64 = 0

  init() {}

  mutating func step(_ inputs: Span<Push>, events: inout [Never]) {
    for player in inputs.indices {
      sum = sum &* 31 &+ UInt64(truncatingIfNeeded: inputs[player].strength)
    }
  }

  var hash: UInt64 {
    var hash = StateHash()
    hash.combine(sum)
    return hash.value
  }

  func encode(into writer: inout PacketWriter) { writer.write(sum) }
  init(decoding reader: inout PacketReader) throws(DecodeError) { sum = try reader.read() }
}
