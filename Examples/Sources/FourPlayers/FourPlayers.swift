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

/// One player: presses as hard as its number. Returns the order in which the players finished.
func play(_ session: Session, with host: Peer) async throws -> [Int] {
  let match = try await RollbackClient<Race>.join(host, over: session)
  var order: [Int] = []
  for await _ in match.ticks {
    match.advance(with: Race.Press(Int32((match.player ?? 3) + 1) % 4))
    while let event = match.pollEvent() {
      if case .confirmed(.finished(let player), _) = event { order.append(player) }
    }
    if order.count == 3 { break }  // player 3 does not press
  }
  return order
}

/// Four players and their server in one process, over loopback.
@main enum FourPlayers {
  static func main() async throws {
    try await withNetworkLoop { loop in
      let me = PeerInfo(id: .random(), name: "server", application: "race")
      try await Session.host(as: me, on: [.loopback4], seats: 4, loop: loop) { session, port in
        let server = Task {
          try await RollbackServer(Race(), players: 4, at: loop.now).run(over: session)
        }
        let orders = try await withThrowingTaskGroup { group in
          for number in 0..<4 {
            group.addTask {
              let me = PeerInfo(id: .random(), name: "\(number)", application: "race")
              let endpoint = Endpoint(.loopback4, port: port)
              return try await Session.join([endpoint], as: me, loop: loop) { session, host in
                try await play(session, with: host)
              }
            }
          }
          var orders: [[Int]] = []
          for try await order in group { orders.append(order) }
          return orders
        }
        server.cancel()
        try await server.value
        print("all four players saw the order \(orders[0])")
        guard orders.allSatisfy({ $0 == orders[0] && $0.count == 3 }) else {
          fatalError("different: \(orders)")
        }
      }
    }
  }
}
