import CaromCore
import CaromProtocol
import CaromSession
import CaromTesting
import CaromTransport
import Testing

/// Sessions on real sockets whose datagrams are delayed and lost as a profile says.
@Suite struct SimulatedConditionsTests {
  /// Runs `body` with a host and a client, of which one simulates conditions.
  private func withPair(
    hosting: LinkProfile? = nil, joining: LinkProfile? = nil,
    _ body: (_ hosting: Session, _ session: Session, _ host: Peer) async throws -> Void
  ) async throws {
    try await withNetworkLoop { loop in
      try await Session.host(
        as: makePeer("host"), on: [.loopback4], conditions: hosting, loop: loop
      ) { hosting, port in
        try await Session.join(
          [Endpoint(.loopback4, port: port)], as: makePeer("client"), conditions: joining,
          loop: loop
        ) { session, host in try await body(hosting, session, host) }
      }
    }
  }

  @Test func `every reliable message arrives in order through 20 % loss, which is counted`()
    async throws
  {
    let lossy = LinkProfile("lossy", LinkConditions(oneWay: .milliseconds(1), loss: 0.2))
    try await withPair(joining: lossy) { hosting, session, host in
      // Each note has a datagram of its own.
      let text = [UInt8](repeating: 7, count: 1_000)
      for number in 0..<400 {
        try await host.send(Note(text + [UInt8(number & 255)]), on: .notes)
      }
      var received = 0
      for await note in hosting.messages(on: .notes) {
        #expect(note.message == Note(text + [UInt8(received & 255)]))
        received += 1
        if received == 400 { break }
      }
      let counts = await session.node.simulatedCounts
      #expect(counts.sent >= 400 && counts.received > 0)
      let share = Double(counts.lost) / Double(counts.sent + counts.received)
      // Four standard deviations of the share of 0.2 among 400 datagrams are 0.08.
      #expect((0.12...0.28).contains(share), "\(counts)")
    }
  }

  @Test(arguments: [true, false])
  func `a round trip takes at least the delays of both directions`(_ isHost: Bool) async throws {
    let slow = LinkProfile(
      "slow", outbound: LinkConditions(oneWay: .milliseconds(30)),
      inbound: LinkConditions(oneWay: .milliseconds(20)))
    try await withPair(hosting: isHost ? slow : nil, joining: isHost ? nil : slow) {
      hosting, session, host in
      let isDelivered = try await host.sendConfirmed(Note([1]), on: .notes)
      #expect(isDelivered)
      let roundTrip = try #require(await host.roundTrip?.latest)
      #expect(roundTrip >= .milliseconds(50))
      #expect(await host.linkKind == .datagram)
      let counts = await (isHost ? hosting : session).node.simulatedCounts
      let others = await (isHost ? session : hosting).node.simulatedCounts
      #expect(counts.sent > 0 && counts.received > 0 && counts.lost == 0)
      #expect(others == (0, 0, 0))
    }
  }

  @Test func `a goodbye that is delayed still arrives`() async throws {
    let slow = LinkProfile("slow", LinkConditions(oneWay: .milliseconds(150)))
    try await withNetworkLoop { loop in
      try await Session.host(as: makePeer("host"), on: [.loopback4], loop: loop) {
        hosting, port in
        let endpoint = Endpoint(.loopback4, port: port)
        // The connection is closed before its goodbye has left.
        try await Session.join(
          [endpoint], as: makePeer("client"), timing: .closingSoon, conditions: slow, loop: loop
        ) { _, _ in }
        for await event in hosting.events {
          guard case .left(_, let reason) = event else { continue }
          #expect(reason == .finished)
          break
        }
      }
    }
  }

  @Test func `the same seed gives the same delays and losses`() {
    for profile in LinkProfile.all {
      let first = Self.arrivals(profile.outbound, seed: 7)
      #expect(first == Self.arrivals(profile.outbound, seed: 7), "\(profile)")
      if profile.outbound.loss > 0 {
        #expect(first != Self.arrivals(profile.outbound, seed: 8), "\(profile)")
      }
    }
  }

  @Test func `a datagram is lost and delayed as the conditions say`() {
    let conditions = LinkConditions(
      oneWay: .milliseconds(50), jitter: .uniform(.milliseconds(10)), loss: 0.05)
    let arrivals = Self.arrivals(conditions, seed: 1)
    #expect((9_400...9_600).contains(arrivals.count))
    for (sent, arrived) in arrivals {
      #expect(arrived - sent >= .milliseconds(40))
    }
  }

  /// The times at which those of 10,000 datagrams, one each millisecond, were sent and arrive that
  /// are not lost.
  private static func arrivals(
    _ conditions: LinkConditions, seed: UInt64
  ) -> [Instant: Instant] {
    let start = Instant.zero + .seconds(1_000)
    var link = DatagramConditioner(conditions, seed: seed, at: start)
    var arrivals: [Instant: Instant] = [:]
    for number in 0..<10_000 {
      let now = start + .milliseconds(number)
      link.send([UInt8](repeating: 1, count: 20), isV6: false, at: now) { _, time in
        arrivals[now] = time
      }
    }
    return arrivals
  }
}
