import CaromCore
import CaromPhysics
import CaromSimulation

/// A player's inputs, sent to a server as in rollback play: each packet contains every input that
/// the server has not acknowledged.
struct SnapshotInputs {
  /// The position of a mallet on the lattice.
  struct Input: SimulationInput {
    var x: Int32 = 0
    var y: Int32 = 0

    static let fieldCount = 2

    init() {}

    init(_ place: Vector) {
      x = Int32((place.x / SnapshotHockey.step).rounded())
      y = Int32((place.y / SnapshotHockey.step).rounded())
    }

    init(fields: Span<Int32>) throws(DecodeError) {
      x = fields[0]
      y = fields[1]
    }

    func field(_ index: Int) -> Int32 { index == 0 ? x : y }
  }

  /// A game without rules, whose state is a hash of its inputs.
  struct Game: Simulation, PacketCodable {
    private var sum = StateHash()

    init() {}

    mutating func step(_ inputs: Span<Input>, events: inout [Never]) {
      for index in inputs.indices {
        sum.combine(Int64(inputs[index].x) << 32 ^ Int64(inputs[index].y))
      }
    }

    var hash: UInt64 { sum.value }

    func encode(into writer: inout PacketWriter) { writer.write(sum.value) }

    init(decoding reader: inout PacketReader) throws(DecodeError) {
      _ = try reader.read(UInt64.self)
    }
  }

  private struct Packet {
    let due: Int64
    let message: RollbackMessage
    let bytes: [UInt8]
  }

  private var server: RollbackServer<Game>
  private var client: RollbackClient<Game>
  private var hand = SnapshotHand(side: -1, seed: 5)
  private let clientID: Int
  private let oneWay: Int64
  private let hertz: Int
  private var up: [Packet] = []
  private var down: [Packet] = []
  private var now = Instant.zero
  private var made = 0
  private var writer = PacketWriter()
  private var figures: SnapshotFigures

  /// Returns the sizes of the packets to the server.
  static func measure(hertz: Int, seconds: Int, roundTrip: Double) -> SnapshotFigures {
    var inputs = SnapshotInputs(hertz: hertz, roundTrip: roundTrip)
    // Each call advances the time by a quarter of a millisecond.
    for _ in 0..<seconds * 4_000 { inputs.advance() }
    inputs.figures.sizes.removeFirst(min(inputs.figures.sizes.count, 5 * hertz))
    return inputs.figures
  }

  private init(hertz: Int, roundTrip: Double) {
    self.hertz = hertz
    oneWay = Int64(roundTrip * 1e9 / 2)
    server = RollbackServer(Game(), players: 2, rate: hertz, at: .zero)
    client = RollbackClient(player: 0, rate: hertz, at: .zero)
    client.roundTrip = .nanoseconds(2 * oneWay)
    clientID = server.addPlayer(0)
    figures = SnapshotFigures(hertz: hertz, entities: 1)
  }

  private mutating func advance() {
    now = now.advanced(by: .microseconds(250))
    deliver()
    for _ in 0..<server.takeDueTicks(at: now) { server.advance() }
    while true {
      writer.removeAll()
      guard let (_, message) = server.pollTransmit(into: &writer) else { break }
      down.append(Packet(due: now.nanoseconds + oneWay, message: message, bytes: writer.bytes))
    }
    for _ in 0..<client.takeDueTicks(at: now) {
      made += 1
      let place = hand.place(at: Double(made) / Double(hertz), puck: .zero)
      client.advance(with: Input(place))
    }
    while true {
      writer.removeAll()
      guard let message = client.pollTransmit(into: &writer) else { break }
      if message == .inputs { figures.sizes.append(writer.count) }
      up.append(Packet(due: now.nanoseconds + oneWay, message: message, bytes: writer.bytes))
    }
  }

  private mutating func deliver() {
    while let packet = up.first, packet.due <= now.nanoseconds {
      up.removeFirst()
      try? server.receive(packet.message, packet.bytes.span, from: clientID, at: now)
    }
    while let packet = down.first, packet.due <= now.nanoseconds {
      down.removeFirst()
      try? client.receive(packet.message, packet.bytes.span, at: now)
    }
  }
}
