import CaromCore
import CaromSimulation
import Testing

/// A game in which each player goes in a direction and jumps. Jumps are one-time actions.
struct Step: Simulation, PacketCodable, Hashable {
  struct Input: SimulationInput {
    var direction: Int32 = 0
    var jumps = false

    init() {}
    init(direction: Int32, jumps: Bool = false) {
      self.direction = direction
      self.jumps = jumps
    }
    static var fieldCount: Int { 2 }
    func field(_ index: Int) -> Int32 { index == 0 ? direction : jumps ? 1 : 0 }
    init(fields: Span<Int32>) throws(DecodeError) {
      guard (-9...9).contains(fields[0]) else { throw .invalid(what: "direction") }
      guard (0...1).contains(fields[1]) else { throw .invalid(what: "jump") }
      self.init(direction: fields[0], jumps: fields[1] == 1)
    }
    var held: Self { Self(direction: direction) }
    func merged(with later: Self) -> Self {
      Self(direction: later.direction, jumps: jumps || later.jumps)
    }
  }

  enum Event: Hashable, PacketCodable {
    case jumped(player: UInt8)

    func encode(into writer: inout PacketWriter) {
      if case .jumped(let player) = self { writer.append(player) }
    }
    init(decoding reader: inout PacketReader) throws(DecodeError) {
      self = .jumped(player: try reader.read())
    }
  }

  static var playerCounts: ClosedRange<Int> { 2...2 }
  /// Where the players are, and how often they have jumped.
  var places: [Int32] = [0, 0]
  var jumps: UInt32 = 0

  mutating func step(_ inputs: Span<Input>, events: inout [Event]) {
    for player in inputs.indices {
      places[player] &+= inputs[player].direction
      guard inputs[player].jumps else { continue }
      jumps &+= 1
      events.append(.jumped(player: UInt8(player)))
    }
  }

  var hash: UInt64 {
    var hash = StateHash()
    for place in places { hash.combine(Int64(place)) }
    hash.combine(UInt64(jumps))
    return hash.value
  }

  init() {}
  func encode(into writer: inout PacketWriter) {
    for place in places { writer.write(place) }
    writer.write(jumps)
  }
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    places = [try reader.read(), try reader.read()]
    jumps = try reader.read()
  }
}

/// Returns the state that an engine has encoded.
func decode(_ state: [UInt8]?) throws -> Step {
  let bytes = try #require(state)
  return try Step(decoding: bytes.span)
}
