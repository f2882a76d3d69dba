import Carom

/// Two players pull at a rope. The first to pull it to 1,000 on their side wins.
struct TugOfWar: Simulation, PacketCodable, Hashable {
  struct Pull: SimulationInput {
    var strength: Int32 = 0

    init() {}
    init(_ strength: Int32) { self.strength = strength }
    static var fieldCount: Int { 1 }
    func field(_ index: Int) -> Int32 { strength }
    init(fields: Span<Int32>) throws(DecodeError) {
      guard (0...9).contains(fields[0]) else { throw .invalid(what: "strength") }
      strength = fields[0]
    }
  }

  enum Event: Hashable, Sendable { case won(Int) }

  static var playerCounts: ClosedRange<Int> { 2...2 }
  var rope: Int32 = 0

  mutating func step(_ pulls: Span<Pull>, events: inout [Event]) {
    guard rope.magnitude < 1_000 else { return }
    rope += pulls[1].strength - pulls[0].strength
    if rope.magnitude >= 1_000 { events.append(.won(rope < 0 ? 0 : 1)) }
  }

  var hash: UInt64 {
    var hash = StateHash()
    hash.combine(Int64(rope))
    return hash.value
  }

  func encode(into writer: inout PacketWriter) { writer.write(rope) }
  init() {}
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    rope = try reader.read()
    guard (-1_008...1_008).contains(rope) else { throw .invalid(what: "rope") }
  }
}
