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

/// A server and one client over loopback. The client pulls harder, and wins.
@main enum Program {
  static func main() async throws {
    try await withNetworkLoop { loop in
      let me = PeerInfo(id: .random(), name: "Leo", application: "tug-of-war")
      let host = PeerInfo(id: .random(), name: "Maya", application: "tug-of-war")
      try await Session.host(as: host, on: [.loopback4], seats: 1, loop: loop) { session, port in
        let server = Task { try await serve(session, on: loop) }
        let endpoint = Endpoint(.loopback4, port: port)
        let winner = try await Session.join([endpoint], as: me, loop: loop) { session, host in
          try await play(session, with: host)
        }
        server.cancel()
        try await server.value
        guard winner == 1 else { fatalError("the weaker player won") }
        print("player 1 wins")
      }
    }
  }

  /// Serves the match. Player 0 belongs to the server and pulls with a strength of 3.
  static func serve(_ session: Session, on loop: NetworkLoop) async throws {
    let server = RollbackServer(TugOfWar(), players: 2, at: loop.now)
    try await server.run(over: session, remotePlayers: [1]) { match in
      match.server.setInput(TugOfWar.Pull(3), for: 0)
    }
  }

  /// Pulls with a strength of 8 until a victory is confirmed; returns the player who won.
  static func play(_ session: Session, with host: Peer) async throws -> Int? {
    let match = try await RollbackClient<TugOfWar>.join(host, over: session)
    for await _ in match.ticks {
      match.advance(with: TugOfWar.Pull(8))
      while let event = match.pollEvent() {
        if case .confirmed(.won(let player), _) = event { return player }
      }
    }
    return nil
  }
}
