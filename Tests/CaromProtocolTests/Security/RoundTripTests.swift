import CaromCore
import CaromCrypto
import CaromTesting
import Testing

@testable import CaromProtocol

/// The number of round trips that a client waits for its seat, and for its path after a move. A
/// round trip takes 100 ms, and nothing else takes time.
@Suite struct RoundTripTests {
  private static let far = LinkProfile("far", LinkConditions(oneWay: .milliseconds(50)))
  private static let code = LinkAccess.code(try! JoinCode("K7QM-2XRT"), isForOneUse: false)

  /// How a client joins.
  enum Way: CaseIterable {
    case plaintext, anyone, code, token, knownHost, wrongKey

    /// The number of round trips over datagrams.
    var roundTrips: Int64 {
      switch self {
      case .token: 1
      case .plaintext, .knownHost: 2
      case .anyone, .code, .wrongKey: 3
      }
    }
  }

  private func makePair(_ way: Way, _ kinds: VirtualPeer.Links, load: Load = Load()) throws
    -> VirtualPair
  {
    var generator = SeededGenerator(seed: 7)
    let other = Identity(using: &generator).publicKey
    let links = way == .plaintext ? kinds : kinds.union(.encrypted)
    let access: (LinkAccess, LinkAccess) =
      switch way {
      case .code: (Self.code, Self.code)
      case .token:
        (
          .tickets(ConnectTokenTests.makeReader()), .token(try ConnectTokenTests.makeToken())
        )
      default: (.anyone, .anyone)
      }
    return VirtualPair(
      seed: 5, profile: Self.far, links: links, load: load, access: access,
      knowsHost: way == .knownHost, hostKey: way == .wrongKey ? other : nil)
  }

  private func milliseconds(_ time: Instant?) -> Int64? { time.map { $0.nanoseconds / 1_000_000 } }

  @Test(arguments: Way.allCases)
  func `a client has its seat after as many round trips as its handshake needs`(way: Way) throws {
    var pair = try makePair(way, .datagram)
    try pair.world.run(for: .seconds(2))
    #expect(milliseconds(pair.clientPeer.openedAt) == 100 * way.roundTrips)
  }

  @Test(arguments: Way.allCases)
  func `over a stream, a handshake takes one round trip more than plaintext`(way: Way) throws {
    var pair = try makePair(way, .stream)
    try pair.world.run(for: .seconds(2))
    #expect(milliseconds(pair.clientPeer.openedAt) == (way == .plaintext ? 200 : 300))
  }

  @Test(arguments: [Way.plaintext, .anyone, .knownHost])
  func `an address token saves one round trip`(way: Way) throws {
    var pair = try makePair(way, .datagram)
    try pair.world.run(for: .seconds(2))
    let token = try #require(pair.clientPeer.token)
    pair.world.withNode(of: pair.client) { $0.close(in: &$1) }
    try pair.world.run(for: .seconds(3))
    let begin = pair.world.network.now
    pair.world.withNode(of: pair.client) { $0.connectAgain(with: token, in: &$1) }
    try pair.world.run(for: .seconds(2))
    let opened = try #require(milliseconds(pair.clientPeer.openedAt))
    #expect(opened - begin.nanoseconds / 1_000_000 == 100 * (way.roundTrips - 1))
  }

  // MARK: Connections that exist already

  @Test func `encryption adds no trip to a move`() throws {
    /// Returns how many times datagrams cross the network, from the first one that comes from a new
    /// address until the message in it has arrived.
    func trips(isEncrypted: Bool) throws -> Int {
      let other = Route(Endpoint(.v4(0x0A00_0063), port: 9_999))
      var pair = DatagramPair.opened(isEncrypted: isEncrypted)
      pair.run(for: .milliseconds(50))
      try pair.client.send([UInt8](repeating: 5, count: 30), on: 0, to: pair.id, at: pair.now)
      pair.drain()
      for trip in 1...8 {
        pair.now = pair.now + DatagramPair.delay
        if trip % 2 == 1 {
          for datagram in pair.takeToHost() { pair.deliverToHost(datagram, from: other) }
        } else {
          for datagram in pair.takeToClient() { pair.deliverToClient(datagram) }
        }
        if !pair.hostMessages.isEmpty { return trip }
      }
      return .max
    }
    #expect(try trips(isEncrypted: false) == 3)
    #expect(try trips(isEncrypted: true) == 3)
  }

  @Test func `encryption adds no time to a resumption`() throws {
    /// Returns how long it takes to resume a connection once datagrams arrive again.
    func time(isEncrypted: Bool) -> Duration? {
      var pair = DatagramPair.opened(isEncrypted: isEncrypted)
      pair.run(for: .milliseconds(50))
      pair.run(for: .seconds(12), delivers: false)
      _ = (pair.takeToHost(), pair.takeToClient())
      let begin = pair.now
      func isResumed(_ event: HostEvent) -> Bool {
        if case .connection(_, .resumed) = event { true } else { false }
      }
      while !pair.clientEvents.contains(where: isResumed), pair.now - begin < .seconds(5) {
        pair.run(for: .milliseconds(1))
      }
      return pair.clientEvents.contains(where: isResumed) ? pair.now - begin : nil
    }
    let plain = time(isEncrypted: false)
    #expect(plain != nil && time(isEncrypted: true) == plain)
  }

  /// A stream has a handshake of its own, but everything that is sent in the meantime takes the
  /// datagram path.
  @Test(arguments: [false, true])
  func `a stream that joins keeps no message waiting`(isEncrypted: Bool) throws {
    var pair = DatagramPair.opened(isEncrypted: isEncrypted)
    pair.run(for: .milliseconds(50))
    let stream = pair.host.makeConnectionID()
    let isAccepted = pair.host.accept(stream, at: pair.now)
    #expect(isAccepted)
    pair.client.handleStreamConnected(pair.id, key: pair.key, at: pair.now)
    var trips = 0
    while pair.client.connection(pair.id)?.stream?.isJoined != true, trips < 8 {
      let sent = pair.hostMessages.count
      try pair.client.send([UInt8(trips)], on: 0, to: pair.id, at: pair.now)
      pair.drain()
      trips += 2
      while let bytes = pair.client.pollTransmit(on: pair.id, queued: 0, at: pair.now) {
        pair.host.receive(bytes.span, on: stream, at: pair.now)
      }
      pair.deliverInFlight()
      #expect(pair.hostMessages.count == sent + 1)
      let id = pair.host.contains(stream) ? stream : try #require(pair.hostID)
      while let bytes = pair.host.pollTransmit(on: id, queued: 0, at: pair.now) {
        pair.client.receive(bytes.span, on: pair.id, at: pair.now)
      }
      pair.drain()
    }
    #expect(trips == (isEncrypted ? 4 : 2))
  }
}
