import CaromSimulation
import Testing

private struct OneImportGame: Simulation, PacketCodable, Hashable {
  struct Step: SimulationInput {
    var count: Int32 = 0
    init() {}
    static var fieldCount: Int { 1 }
    func field(_ index: Int) -> Int32 { count }
    init(fields: Span<Int32>) throws(DecodeError) { count = fields[0] }
  }

  static var playerCounts: ClosedRange<Int> { 1...1 }
  var total: UInt32 = 0
  init() {}
  mutating func step(_ steps: Span<Step>, events: inout [Int]) { total += 1 }
  var hash: UInt64 { UInt64(total) }
  func encode(into writer: inout PacketWriter) { writer.write(total) }
  init(decoding reader: inout PacketReader) throws(DecodeError) { total = try reader.read() }
}

@Test func `a simulation needs no import but the simulation's`() {
  var server = RollbackServer(OneImportGame(), players: 1, at: Instant.zero)
  server.advance()
  #expect(server.tick == Tick(1))
}
