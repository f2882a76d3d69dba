import Carom

/// A race of four players to 180 points. Each tick, players score as many points as they press.
struct Race: Simulation, PacketCodable, Hashable {
  struct Press: SimulationInput {
    var points: Int32 = 0

    init() {}
    init(_ points: Int32) { self.points = points }
    static var fieldCount: Int { 1 }
    func field(_ index: Int) -> Int32 { points }
    init(fields: Span<Int32>) throws(DecodeError) {
      guard (0...3).contains(fields[0]) else { throw .invalid(what: "points") }
      points = fields[0]
    }
  }

  enum Event: Hashable, Sendable { case finished(player: Int) }

  static let goal: UInt32 = 180
  static var playerCounts: ClosedRange<Int> { 4...4 }
  var scores: [UInt32] = [0, 0, 0, 0]

  mutating func step(_ presses: Span<Press>, events: inout [Event]) {
    for player in scores.indices where scores[player] < Self.goal {
      scores[player] += UInt32(presses[player].points)
      if scores[player] >= Self.goal { events.append(.finished(player: player)) }
    }
  }

  var hash: UInt64 {
    var hash = StateHash()
    for score in scores { hash.combine(Int64(score)) }
    return hash.value
  }

  func encode(into writer: inout PacketWriter) { for score in scores { writer.write(score) } }
  init() {}
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    for player in scores.indices {
      scores[player] = try reader.read(UInt32.self)
      guard scores[player] < Self.goal + 3 else { throw .invalid(what: "score") }
    }
  }
}

/// Inputs may be lost, because each packet repeats the unacknowledged ones; keyframes and
/// reports of desyncs must arrive.
extension MessageChannel<RollbackPacket> {
  static var inputs: Self { .init(0, .unreliableSequenced) }
  static var sync: Self { .init(1, .reliableOrdered) }
  static func carrying(_ packet: RollbackPacket) -> Self {
    packet.message == .inputs ? .inputs : .sync
  }
}

/// The server: seats four players, and simulates each tick with the inputs that have arrived.
func serve(_ session: Session, on loop: NetworkLoop) async throws {
  var server = RollbackServer(Race(), players: 4, at: loop.now)
  var clients: [Int: Peer] = [:]
  var numbers: [Peer: Int] = [:]
  for await _ in FixedStep(hertz: 60, on: loop) {
    while let event = session.poll() {
      guard case .joined(let peer) = event else { continue }
      // Each client's name contains its player number; a real game would assign the numbers.
      let number = server.addPlayer(Int(peer.name) ?? 0)
      (clients[number], numbers[peer]) = (peer, number)
    }
    for channel in [MessageChannel.inputs, .sync] {
      for packet in session.takeMessages(on: channel) {
        guard let client = numbers[packet.peer] else { continue }
        try server.receive(packet.message, from: client, at: loop.now)
      }
    }
    for _ in 0..<server.takeDueTicks(at: loop.now) { server.advance() }
    while let (client, packet) = server.pollPacket() {
      _ = clients[client]?.post(packet, on: .carrying(packet))
    }
  }
}

/// One player: simulates ahead of the server, and presses as hard as its number. Returns the order
/// in which the players finished.
func play(
  as player: Int, in session: Session, with host: Peer, on loop: NetworkLoop
) async throws -> [Int] {
  var client = RollbackClient<Race>(player: player, at: loop.now)
  var order: [Int] = []
  for await _ in FixedStep(hertz: 60, on: loop) {
    for channel in [MessageChannel.inputs, .sync] {
      for packet in session.takeMessages(on: channel) {
        try client.receive(packet.message, at: loop.now)
      }
    }
    for _ in 0..<client.takeDueTicks(at: loop.now) {
      client.advance(with: Race.Press(Int32(player + 1) % 4))
    }
    while let packet = client.pollPacket() { _ = host.post(packet, on: .carrying(packet)) }
    while let event = client.pollEvent() {
      if case .confirmed(.finished(let player), _) = event { order.append(player) }
    }
    if order.count == 3 { return order }  // player 3 does not press
  }
  throw CancellationError()
}

/// Four players and their server in one process, over loopback.
@main enum FourPlayers {
  static func main() async throws {
    try await withNetworkLoop { loop in
      let me = PeerInfo(id: .random(), name: "server", application: "race")
      try await Session.host(as: me, on: [.loopback4], seats: 4, loop: loop) { session, port in
        let server = Task { try await serve(session, on: loop) }
        let orders = try await withThrowingTaskGroup { group in
          for player in 0..<4 {
            group.addTask {
              let me = PeerInfo(id: .random(), name: "\(player)", application: "race")
              let endpoint = Endpoint(.loopback4, port: port)
              return try await Session.join([endpoint], as: me, loop: loop) { session, host in
                try await play(as: player, in: session, with: host, on: loop)
              }
            }
          }
          var orders: [[Int]] = []
          for try await order in group { orders.append(order) }
          return orders
        }
        server.cancel()
        _ = await server.result
        print("all four players saw the order \(orders[0])")
        guard orders.allSatisfy({ $0 == [2, 1, 0] }) else { fatalError("different: \(orders)") }
      }
    }
  }
}
