import CaromCore
import CaromCrypto
import CaromSession
import CaromTransport

/// A game of up to four players, who add points to their sums until one of them has 100.
struct Tally: Simulation, PacketCodable, Hashable {
  struct Points: SimulationInput {
    var points: Int32 = 0

    init() {}
    init(_ points: Int32) { self.points = points }
    static var fieldCount: Int { 1 }
    func field(_ index: Int) -> Int32 { points }
    init(fields: Span<Int32>) throws(DecodeError) {
      guard (0...9).contains(fields[0]) else { throw .invalid(what: "points") }
      points = fields[0]
    }
  }

  enum Event: Hashable, Sendable { case finished(player: Int) }

  static var playerCounts: ClosedRange<Int> { 1...4 }
  static let goal: UInt32 = 100
  var sums: [UInt32] = [0, 0, 0, 0]
  /// A part of the state that only tests change, to cause a desync.
  var damage: UInt32 = 0

  init() {}

  mutating func step(_ inputs: Span<Points>, events: inout [Event]) {
    for player in inputs.indices where sums[player] < Self.goal {
      sums[player] += UInt32(inputs[player].points)
      if sums[player] >= Self.goal { events.append(.finished(player: player)) }
    }
  }

  var hash: UInt64 {
    var hash = StateHash()
    for sum in sums { hash.combine(UInt64(sum)) }
    hash.combine(UInt64(damage))
    return hash.value
  }

  func encode(into writer: inout PacketWriter) {
    for sum in sums { writer.write(sum) }
    writer.write(damage)
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    for player in sums.indices { sums[player] = try reader.read() }
    damage = try reader.read()
  }
}

/// A session that hosts, with what a test needs to join it.
struct HostedSession {
  let session: Session
  let loop: NetworkLoop
  let endpoint: Endpoint

  /// Joins the session and runs `body`.
  func join<Result>(
    _ peer: PeerInfo, as identity: Identity = .random(),
    _ body: (Session, Peer) async throws -> Result
  ) async throws -> Result {
    try await Session.join(
      [endpoint], as: peer, security: .anyone(as: identity), loop: loop, body)
  }
}

/// Runs `body` with a session that hosts on loopback.
func withHostedSession(
  seats: Int = 4, spectatorSeats: Int = 0, timing: SessionTiming = SessionTiming(),
  _ body: (HostedSession) async throws -> Void
) async throws {
  try await withNetworkLoop { loop in
    try await Session.host(
      as: makePeer("host"), on: [.loopback4], seats: seats, spectatorSeats: spectatorSeats,
      timing: timing, loop: loop
    ) { session, port in
      try await body(
        HostedSession(session: session, loop: loop, endpoint: Endpoint(.loopback4, port: port)))
    }
  }
}
