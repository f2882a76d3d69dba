import CaromSessionTesting
import Testing

/// Rollback matches over sessions on slow paths, with the default settings of both sides.
@Suite struct RollbackWorldTests {
  private static let rate = 60

  /// What the host has counted at one of its ticks.
  private struct Count: Sendable {
    var time: Instant
    var missed: Int
    var presses: UInt32
  }

  /// Serves a match until the client has left, and returns the counts of each tick.
  private static func serve(_ session: Session) async throws -> [Count] {
    let match = HostedRollback(
      RollbackServer(Presses(), players: 1, rate: rate, at: session.loop.now), over: session)
    var counts: [Count] = []
    for await _ in match.ticks {
      match.advance()
      let server = match.server
      counts.append(
        Count(
          time: session.loop.now, missed: server.missedInputs(of: 0), presses: server.game.count))
      while let notice = match.pollNotice() { if case .left = notice { return counts } }
    }
    return counts
  }

  /// Presses in each tick of 21 s, and returns the time of the first one. No input is replaced after
  /// the first second.
  private static func play(_ session: Session, with host: Peer) async throws -> Instant {
    let match = try await RollbackClient<Presses>.join(host, over: session)
    let start = session.loop.now
    var overridden: Int?
    for await _ in match.ticks {
      match.advance(with: Presses.Button(isDown: true))
      if session.loop.now >= start + .seconds(2), overridden == nil {
        overridden = match.client.overriddenInputs
      }
      if session.loop.now >= start + .seconds(21) { break }
    }
    #expect(match.client.overriddenInputs == overridden)
    var notices: [JoinedRollback<Presses>.Notice] = []
    while let notice = match.pollNotice() { notices.append(notice) }
    #expect(!notices.contains(.inputsLate), "\(notices)")
    return start
  }

  @Test(arguments: [0, 100, 300, 600])
  func `after a second, no input of a default client is missed on a path of`(_ roundTrip: Int)
    async throws
  {
    try await SessionWorld.run(seed: 1) { world in
      let path = LinkProfile("path", LinkConditions(oneWay: .milliseconds(roundTrip) / 2))
      let pair = WorldPair(in: world, profile: path)
      try await Session.host(as: .maya, loop: pair.server.loop) { hosting, port in
        async let serving = Self.serve(hosting)
        let start = try await pair.join(port) { session, host in
          try await Self.play(session, with: host)
        }
        let counts = try await serving
        // The inputs of the client's second second have arrived half a round trip later.
        let counted = counts.filter {
          $0.time >= start + .seconds(1) + .milliseconds(roundTrip) / 2
            && $0.time <= start + .seconds(20)
        }
        let (first, last) = try (#require(counted.first), #require(counted.last))
        #expect(counted.count > 18 * Self.rate)
        #expect(last.missed == first.missed)
        // Each tick had the client's own input.
        #expect(Int(last.presses - first.presses) == counted.count - 1)
      }
    }
  }
}

/// A game that counts the ticks in which its player presses a button.
private struct Presses: Simulation, PacketCodable, Hashable {
  struct Button: SimulationInput {
    var isDown = false

    init() {}
    init(isDown: Bool) { self.isDown = isDown }
    static var fieldCount: Int { 1 }
    func field(_ index: Int) -> Int32 { isDown ? 1 : 0 }
    init(fields: Span<Int32>) throws(DecodeError) { isDown = fields[0] != 0 }
  }

  static var playerCounts: ClosedRange<Int> { 1...1 }
  var count: UInt32 = 0

  init() {}

  mutating func step(_ inputs: Span<Button>, events: inout [Never]) {
    if inputs[0].isDown { count += 1 }
  }

  var hash: UInt64 {
    var hash = StateHash()
    hash.combine(UInt64(count))
    return hash.value
  }

  func encode(into writer: inout PacketWriter) { writer.write(count) }
  init(decoding reader: inout PacketReader) throws(DecodeError) { count = try reader.read() }
}
