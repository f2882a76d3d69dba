import CaromCore
import CaromCrypto
import CaromTesting
import Testing

@testable import CaromProtocol

/// Connections of clients with a connect token (WireFormat, "Connect tokens").
@Suite struct ConnectTokenTests {
  static let links: [VirtualPeer.Links] = [
    [.datagram, .encrypted], [.stream, .encrypted], [.both, .encrypted],
  ]
  /// The id that the client of a `VirtualPair` gives itself.
  static let player = PeerID(high: 0, low: 2)
  static let address = Endpoint(.v4(0x0A00_0001), port: 7777)

  static func makeKey(_ byte: UInt8 = 7) -> BackendKey {
    BackendKey(hexadecimal: [UInt8](repeating: 0x30 + byte, count: 64))!
  }

  /// Makes a token as the backend does.
  static func makeToken(
    _ seed: UInt64 = 1, at made: Int64 = 0, lifetime: Duration = .seconds(3600),
    player: PeerID = player, hosts: [Endpoint] = [address], data: [UInt8] = [1, 2, 3],
    key: BackendKey = makeKey()
  ) throws -> ConnectToken {
    var generator = SeededGenerator(seed: seed)
    return try ConnectToken(
      for: hosts, player: player, lifetime: lifetime, data: data, key: key,
      at: UnixTime(milliseconds: made), using: &generator)
  }

  static func makeReader(start: Int64 = -1, hosts: Set<Endpoint>? = nil) -> TicketReader {
    TicketReader(keys: [makeKey()], start: UnixTime(milliseconds: start), endpoints: hosts)
  }

  private func makePair(
    _ links: VirtualPeer.Links, _ token: ConnectToken, reader: TicketReader = makeReader(),
    load: Load = Load(hertz: 60, ticks: 30)
  ) -> VirtualPair {
    VirtualPair(
      seed: 3, links: links, load: load, access: (.tickets(reader), .token(token)))
  }

  private func connectAgain(_ pair: inout VirtualPair, with token: ConnectToken) throws {
    pair.world.withNode(of: pair.client) { node, network in
      node.restart(access: .token(token))
      node.connectAgain(with: nil, in: &network)
    }
    try pair.world.run(for: .seconds(2))
  }

  // MARK: Joining

  @Test(arguments: links)
  func `a client with a token plays, and the host learns what the backend says`(
    links: VirtualPeer.Links
  ) throws {
    var pair = makePair(links, try Self.makeToken())
    #expect(try pair.runLoad(for: .seconds(10)))
    #expect(pair.faults.isEmpty && pair.hostPeer.endings.isEmpty)
    let requested = pair.hostPeer.events.compactMap {
      if case .requested(_, let info, _) = $0 { info } else { nil }
    }
    #expect(requested.map(\.id) == [Self.player])
    #expect(requested.map(\.backendData) == [[1, 2, 3]])
    let id = try #require(pair.hostPeer.id)
    let (key, ticket) = try #require(pair.hostPeer.machine.proof(of: id))
    #expect(key == nil && ticket?.player == Self.player && ticket?.data == [1, 2, 3])
    #expect(pair.hostPeer.machine.protection(of: id)?.handshake == .nnpsk0)
    #expect(pair.clientPeer.connection?.peer?.id == pair.hostPeer.machine.local.id)
    #expect(pair.hostPeer.machine.tickets?.count == 1)
    for peer in [pair.hostPeer, pair.clientPeer] {
      #expect((peer.connection?.datagram != nil) == links.contains(.datagram))
      #expect((peer.connection?.stream?.isJoined == true) == links.contains(.stream))
    }
  }

  @Test func `the grant comes after one round trip, with three tenths of the bytes`() throws {
    var pair = try makeDatagramPair()
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    let first = pair.takeToHost()
    #expect(first.map(\.count) == [Hello.paddedLength])
    pair.deliverToHost(first[0])
    let answer = pair.takeToClient()
    #expect(answer.count == 1 && answer[0].count <= Hello.paddedLength * 3 / 10)
    pair.deliverToClient(answer[0])
    #expect(pair.client.isOpen(pair.id))
    #expect(!first[0].contains(Array("peer 2".utf8)) && !answer[0].contains(Array("peer 1".utf8)))
  }

  @Test func `a client whose first datagram is lost joins with a cookie`() throws {
    var pair = try makeDatagramPair()
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    _ = pair.takeToHost()
    pair.run(for: .seconds(1))
    #expect(pair.client.isOpen(pair.id))
    #expect(pair.host.connectionIDs.count == 1)
  }

  @Test func `a client whose answer is lost gets it again`() throws {
    var pair = try makeDatagramPair()
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    for datagram in pair.takeToHost() { pair.deliverToHost(datagram) }
    _ = pair.takeToClient()
    pair.run(for: .seconds(1))
    #expect(pair.client.isOpen(pair.id))
    #expect(pair.host.connectionIDs.count == 1 && pair.host.tickets?.count == 1)
  }

  @Test func `an answer that comes late is not too late`() throws {
    var pair = try makeDatagramPair()
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    for datagram in pair.takeToHost() { pair.deliverToHost(datagram) }
    let answer = try #require(pair.takeToClient().first)
    pair.run(for: .milliseconds(300), delivers: false)
    _ = (pair.takeToHost(), pair.takeToClient())
    pair.deliverToClient(answer)
    #expect(pair.client.isOpen(pair.id))
  }

  @Test(arguments: links)
  func `a host with tokens and a client without one do not connect, and neither falls back`(
    links: VirtualPeer.Links
  ) throws {
    let host = LinkAccess.tickets(Self.makeReader())
    let client = LinkAccess.token(try Self.makeToken())
    for access in [(host, .anyone), (LinkAccess.anyone, client), (client, client)] {
      var pair = VirtualPair(seed: 3, links: links, access: access)
      try pair.world.run(for: .seconds(3))
      #expect(pair.clientPeer.endings == [.securityMismatch])
      #expect(pair.clientPeer.openedAt == nil && pair.hostPeer.openedAt == nil)
    }
  }

  @Test(arguments: links)
  func `a client that gives itself another id than its token is refused`(
    links: VirtualPeer.Links
  ) throws {
    var pair = makePair(links, try Self.makeToken(player: PeerID(high: 9, low: 9)))
    try pair.world.run(for: .seconds(3))
    #expect(pair.clientPeer.endings == [.identityMismatch])
    #expect(pair.hostPeer.openedAt == nil)
  }

  // MARK: Refused tokens

  /// A token that the host refuses, and how the host says so.
  struct Refusal: CustomTestStringConvertible, Sendable {
    let why: TokenRefusal
    var made: Int64 = 5_000
    var lifetime = Duration.seconds(60)
    var hosts = [ConnectTokenTests.address]
    var key: UInt8 = 7
    var testDescription: String { "\(why)" }
  }

  static let refusals = [
    Refusal(why: .expired, made: 2_000, lifetime: .seconds(3)),
    Refusal(why: .notYetValid, made: 60_000),
    Refusal(why: .madeBeforeStart, made: 1_000),
    Refusal(why: .otherHost, hosts: [Endpoint(.v4(0x0A00_0009), port: 7777)]),
    Refusal(why: .notAuthentic, key: 8),
  ]

  @Test(arguments: refusals, links)
  func `a host says why it refuses a token`(refusal: Refusal, links: VirtualPeer.Links) throws {
    var pair = makePair(
      links, try Self.makeToken(),
      reader: Self.makeReader(start: 1_000, hosts: [Self.address]))
    try pair.world.run(for: .seconds(5))
    #expect(pair.clientPeer.endings == [.tokenRefused(.madeBeforeStart)])
    let token = try Self.makeToken(
      2, at: refusal.made, lifetime: refusal.lifetime, hosts: refusal.hosts,
      key: Self.makeKey(refusal.key))
    try connectAgain(&pair, with: token)
    #expect(pair.clientPeer.endings.last == .tokenRefused(refusal.why))
    #expect(pair.hostPeer.openedAt == nil && pair.hostPeer.machine.connectionIDs.isEmpty)
    #expect(pair.hostPeer.machine.tickets?.count == 0)
    try connectAgain(&pair, with: try Self.makeToken(3, at: 5_000))
    #expect(pair.clientPeer.openedAt != nil)
  }

  @Test(arguments: links)
  func `a token is accepted once`(links: VirtualPeer.Links) throws {
    let token = try Self.makeToken()
    var pair = makePair(links, token)
    #expect(try pair.runLoad(for: .seconds(10)))
    pair.world.withNode(of: pair.client) { $0.close(in: &$1) }
    try pair.world.run(for: .seconds(3))
    #expect(pair.hostPeer.machine.connectionIDs.isEmpty)
    try connectAgain(&pair, with: token)
    #expect(pair.clientPeer.endings.last == .tokenRefused(.used))
    try connectAgain(&pair, with: try Self.makeToken(2))
    #expect(pair.clientPeer.openedAt != nil)
  }

  @Test(arguments: links)
  func `a token that another client uses is refused`(links: VirtualPeer.Links) throws {
    let token = try Self.makeToken()
    var pair = makePair(links, token)
    #expect(try pair.runLoad(for: .seconds(10)))
    try connectAgain(&pair, with: token)
    #expect(pair.clientPeer.endings == [.tokenRefused(.used)])
    #expect(pair.clientPeer.openedAt == nil)
  }

  @Test func `a token does not survive a restart of the host`() throws {
    let token = try Self.makeToken()
    var pair = makePair([.datagram, .encrypted], token)
    #expect(try pair.runLoad(for: .seconds(10)))
    let now = pair.world.network.now.nanoseconds / 1_000_000
    pair.world.withNode(of: pair.host) { node, _ in
      node.restart(access: .tickets(Self.makeReader(start: now)))
    }
    try connectAgain(&pair, with: token)
    #expect(pair.clientPeer.endings.last == .tokenRefused(.madeBeforeStart))
  }

  @Test func `when no more tokens can be remembered, new ones wait`() throws {
    var pair = try makeDatagramPair()
    pair.host.tickets = TicketBook(capacity: 1)
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    pair.exchange()
    #expect(pair.client.isOpen(pair.id))
    pair.setClient(try Self.makeToken(2), as: Self.player)
    pair.connect(ConnectionKey(prefix: 3, rest: 4))
    pair.run(for: .seconds(1))
    #expect(pair.clientEvents.endings == [.busy])
  }

  // MARK: Links

  @Test func `an expired token does not keep its connection from another link`() throws {
    var pair = makePair(
      [.both, .encrypted], try Self.makeToken(lifetime: .seconds(5)),
      load: Load(hertz: 60, ticks: 900))
    try pair.world.run(for: .seconds(8))
    #expect(pair.clientPeer.openedAt != nil)
    pair.world.withNode(of: pair.client) { $0.cutStreams(in: &$1) }
    try pair.world.run(for: .seconds(1))
    #expect(pair.clientPeer.connection?.stream == nil)
    pair.setConditions(.cut)
    try pair.world.run(for: .seconds(7))
    #expect(pair.clientPeer.endings.isEmpty)
    pair.setConditions(.steady)
    #expect(try pair.runLoad(for: .seconds(30)))
    #expect(pair.faults.isEmpty && pair.hostPeer.endings.isEmpty)
    #expect(pair.hostPeer.machine.tickets?.count == 1)
  }

  @Test func `a connection moves to another address without its token`() throws {
    var pair = try makeDatagramPair()
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    pair.run(for: .seconds(1))
    let other = Route(Endpoint(.v4(0x0A00_0003), port: 6000))
    let message = [UInt8](repeating: 42, count: 40)
    try pair.client.send(message, on: 0, .reliableOrdered, to: pair.id, at: pair.now)
    pair.drain()
    for _ in 0..<6 {
      for datagram in pair.takeToHost() { pair.deliverToHost(datagram, from: other) }
      for datagram in pair.takeToClient() { pair.deliverToClient(datagram) }
    }
    #expect(pair.hostMessages == [message])
    #expect(pair.hostID.flatMap { pair.host.connection($0) }?.datagram?.route == other)
  }

  // MARK: Attacks

  private func makeDatagramPair() throws -> DatagramPair {
    DatagramPair(Self.makeReader(), client: try Self.makeToken(), as: Self.player)
  }

  @Test func `a first datagram with any changed byte has no effect, and uses no token up`() throws {
    var pair = try makeDatagramPair()
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    let datagram = try #require(pair.takeToHost().first)
    var reader = PacketReader(datagram.span)
    guard case .hello(let hello) = try SessionDatagram(decoding: &reader) else { return }
    let length = try #require(HelloTail(of: datagram.span, after: hello).part).length
    for index in Hello.length..<Hello.length + length {
      var changed = datagram
      changed[index] ^= 0x04
      pair.deliverToHost(changed)
      #expect(pair.host.connectionIDs.isEmpty, "byte \(index)")
    }
    #expect(pair.host.tickets?.count == 0 && pair.hostEvents.isEmpty)
    _ = pair.takeToClient()
    pair.deliverToHost(datagram)
    pair.exchange()
    #expect(pair.client.isOpen(pair.id))
  }

  @Test func `an answer with any changed byte has no effect`() throws {
    var pair = try makeDatagramPair()
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    for datagram in pair.takeToHost() { pair.deliverToHost(datagram) }
    let answer = try #require(pair.takeToClient().first)
    for index in answer.indices {
      var (copy, changed) = (pair, answer)
      changed[index] ^= 0x01
      copy.deliverToClient(changed)
      #expect(!copy.client.isOpen(pair.id), "byte \(index)")
    }
    pair.deliverToClient(answer)
    #expect(pair.client.isOpen(pair.id))
  }

  @Test func `somebody who forwards the first datagram does not keep the client out`() throws {
    var pair = try makeDatagramPair()
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    let datagram = try #require(pair.takeToHost().first)
    let other = Route(Endpoint(.v4(0x0A00_0666), port: 666))
    pair.deliverToHost(datagram, from: other)
    _ = pair.takeToClient()
    pair.deliverToHost(datagram)
    pair.run(for: .seconds(1))
    #expect(pair.client.isOpen(pair.id))
    let connection = pair.hostID.flatMap { pair.host.connection($0) }
    #expect(connection?.datagram?.route == DatagramPair.clientRoute)
    #expect(pair.host.connectionIDs.count == 1)
  }

  @Test func `an address that is not proven gets three tenths of the bytes, whatever happens`()
    throws
  {
    var pair = try makeDatagramPair()
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    let datagram = try #require(pair.takeToHost().first)
    let victim = Route(Endpoint(.v4(0x0A00_0666), port: 666))
    var sent = 0
    for step in 0..<300 {
      if step == 0 || step == 100 { pair.deliverToHost(datagram, from: victim) }
      if let id = pair.hostID, pair.host.isOpen(id) {
        _ = try? pair.host.send(
          [UInt8](repeating: 9, count: 100), on: 0, .reliableOrdered, to: id, at: pair.now)
        pair.drain()
      }
      sent += pair.takeToClient().reduce(0) { $0 + $1.count }
      pair.run(for: .milliseconds(16), delivers: false)
      _ = pair.takeToHost()
      #expect(sent <= (step < 100 ? 1 : 2) * Hello.paddedLength * 3 / 10)
    }
    #expect(sent > 100)
    pair.run(for: .seconds(60), delivers: false)
    sent += pair.takeToClient().reduce(0) { $0 + $1.count }
    #expect(sent <= 2 * Hello.paddedLength * 3 / 10)
    #expect(pair.hostEvents.endings == [.timedOut])
  }

  @Test func `a recorded first datagram begins no connection after the end of its own`() throws {
    var pair = try makeDatagramPair()
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    let datagram = try #require(pair.takeToHost().first)
    pair.deliverToHost(datagram)
    pair.exchange()
    pair.client.close(pair.id, Goodbye(.left), at: pair.now)
    pair.run(for: .seconds(3))
    // The host has long forgotten the connection, but not the token.
    pair.host.endedKeys = []
    pair.deliverToHost(datagram)
    #expect(pair.host.connectionIDs.isEmpty)
    #expect(pair.takeToClient().map(\.count) == [CaromProtocol.Refusal.length])
  }

  @Test func `a recorded first message on another stream has no effect on the connection`() throws {
    var pair = try makeDatagramPair()
    let key = ConnectionKey(prefix: 1, rest: 2)
    pair.connect(key)
    _ = pair.takeToHost()
    let streams = (pair.host.makeConnectionID(), pair.host.makeConnectionID())
    let isAccepted = pair.host.accept(streams.0, at: pair.now)
    #expect(isAccepted)
    pair.client.handleStreamConnected(pair.id, key: key, at: pair.now)
    let output = pair.client.pollTransmit(on: pair.id, queued: 0, at: pair.now)
    let first = try #require(output)
    pair.host.receive(first.span, on: streams.0, at: pair.now)
    func carry() {
      while let bytes = pair.host.pollTransmit(on: streams.0, queued: 0, at: pair.now) {
        pair.client.receive(bytes.span, on: pair.id, at: pair.now)
      }
      while let bytes = pair.client.pollTransmit(on: pair.id, queued: 0, at: pair.now) {
        pair.host.receive(bytes.span, on: streams.0, at: pair.now)
      }
      pair.drain()
    }
    for _ in 0..<3 { carry() }
    #expect(pair.client.isOpen(pair.id) && pair.host.isOpen(streams.0))
    let isOther = pair.host.accept(streams.1, at: pair.now)
    #expect(isOther)
    pair.host.receive(first.span, on: streams.1, at: pair.now)
    pair.host.handleLinkEnd(.reset, of: streams.1, at: pair.now)
    pair.drain()
    #expect(pair.host.isOpen(streams.0) && !pair.host.contains(streams.1))
    #expect(pair.host.connection(streams.0)?.stream != nil)
    // The token still belongs to the connection.
    let use = try #require(pair.host.connection(streams.0)?.secrets?.ticket)
    #expect(pair.host.tickets?.holder(of: use.ticket.id) == key)
  }
}
