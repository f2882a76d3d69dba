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
    /// Whether the host noticed in this tick that most inputs are late.
    var isNoticeOfLateInputs = false
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
          time: session.loop.now, missed: server.missedInputs(of: 0), presses: server.state.count))
      while let notice = match.pollNotice() {
        if case .inputsLate = notice { counts[counts.count - 1].isNoticeOfLateInputs = true }
        if case .left = notice { return counts }
      }
    }
    return counts
  }

  /// What a client saw of a match of 21 s.
  private struct Report: Sendable {
    /// The time of its first input.
    var start: Instant
    /// The number of its inputs that the host replaced, after two seconds and at the end.
    var overridden: (early: Int, all: Int) = (0, 0)
    var wereInputsLate = false
  }

  /// Presses in every other tick, so that an input that the host replaces by the one before is
  /// another.
  private static func play(_ session: Session, with host: Peer) async throws -> Report {
    let match = try await RollbackClient<Presses>.join(host, over: session)
    var report = Report(start: session.loop.now)
    var isDown = false
    for await _ in match.ticks {
      isDown.toggle()
      match.advance(with: Presses.Button(isDown: isDown))
      let time = session.loop.now - report.start
      report.overridden.all = match.client.overriddenInputs
      if time <= .seconds(2) { report.overridden.early = report.overridden.all }
      if time >= .seconds(21) { break }
    }
    while let notice = match.pollNotice() {
      if notice == .inputsLate { report.wereInputsLate = true }
    }
    return report
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
        let report = try await pair.join(port) { session, host in
          try await Self.play(session, with: host)
        }
        #expect(report.overridden.all == report.overridden.early && !report.wereInputsLate)
        let start = report.start
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
        #expect(abs(2 * Int(last.presses - first.presses) - (counted.count - 1)) <= 1)
      }
    }
  }

  @Test func `a client adapts to a path that becomes slow during the match`() async throws {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world, profile: .lan)
      try await Session.host(as: .maya, loop: pair.server.loop) { hosting, port in
        async let serving = Self.serve(hosting)
        let (slowFrom, report) = try await pair.join(port) { session, host in
          async let playing = Self.play(session, with: host)
          try await world.sleep(for: .seconds(5))
          let slow = LinkProfile("slow", LinkConditions(oneWay: .milliseconds(300)))
          world.setProfile(slow, from: pair.client, to: pair.server)
          let now = session.loop.now
          return (now, try await playing)
        }
        let counts = try await serving
        // A few inputs are missed until the new round trip has been measured, and none later.
        let before = try #require(counts.last { $0.time < slowFrom })
        let adapted = try #require(counts.first { $0.time > slowFrom + .seconds(5) })
        let last = try #require(counts.last { $0.time <= slowFrom + .seconds(14) })
        #expect(report.overridden.all > 0)
        #expect(counts.filter(\.isNoticeOfLateInputs).count == 1)
        #expect((1..<5 * Self.rate).contains(adapted.missed - before.missed))
        #expect(last.missed == adapted.missed && last.time > slowFrom + .seconds(13))
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
