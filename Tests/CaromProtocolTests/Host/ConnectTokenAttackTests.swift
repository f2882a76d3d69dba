import CaromCore
import CaromCrypto
import Testing

@testable import CaromProtocol

/// What somebody can do with a connect token of their own, with what they have overheard, or with
/// another sender's address: nothing that the token does not allow (WireFormat, "Connect tokens").
@Suite struct ConnectTokenAttackTests {
  private typealias Streams = (client: ConnectionID, host: ConnectionID)

  private let key = ConnectionKey(prefix: 1, rest: 2)
  private let other = ConnectionKey(prefix: 3, rest: 4)
  /// The address of somebody else.
  private let elsewhere = Route(Endpoint(.v4(0x0A00_0666), port: 666))

  private func makePair() throws -> DatagramPair {
    DatagramPair(
      ConnectTokenTests.makeReader(), client: try ConnectTokenTests.makeToken(),
      as: ConnectTokenTests.player)
  }

  /// The first datagram of another client, which has a token of its own.
  private func makeOthersDatagram(_ pair: DatagramPair) throws -> [UInt8] {
    var pair = pair
    let player = PeerID(high: 9, low: 9)
    pair.setClient(try ConnectTokenTests.makeToken(2, player: player), as: player)
    pair.connect(other)
    return try #require(pair.takeToHost().last)
  }

  /// Writes a hello and a first message with `part`.
  private func encode(_ hello: Hello, _ part: HandshakePart) -> [UInt8] {
    var writer = FrameWriter(limit: Hello.paddedLength)
    hello.write(to: &writer)
    part.write(to: &writer)
    if hello.hasTicket { writer.appendPadding(to: Hello.paddedLength) }
    return writer.takeBytes()
  }

  /// Puts the first message in `datagram` behind a hello with a cookie for `route`.
  private func prove(_ datagram: [UInt8], at route: Route, _ pair: DatagramPair) throws -> [UInt8] {
    var reader = PacketReader(datagram.span)
    guard case .hello(let hello) = try SessionDatagram(decoding: &reader) else { return [] }
    let part = try #require(HelloTail(of: datagram.span, after: hello).part)
    let cookie = Cookie(for: route.endpoint, secret: pair.host.secret, at: pair.now)
    let proven = Hello(key: hello.key, epoch: 2, resumes: false, cookie: cookie, isSealed: true)
    return encode(proven, part)
  }

  private func holder(_ pair: DatagramPair, _ seed: UInt64 = 1) throws -> ConnectionKey? {
    let token = try ConnectTokenTests.makeToken(seed)
    return pair.host.tickets?.holder(of: TicketID(token.ticketBytes))
  }

  private func connection(_ pair: DatagramPair) -> Connection? {
    pair.hostID.flatMap { pair.host.connection($0) }
  }

  // MARK: Streams

  private func openStream(_ pair: inout DatagramPair, _ key: ConnectionKey) -> Streams {
    let streams = (pair.client.makeConnectionID(), acceptStream(&pair))
    pair.client.handleStreamConnected(streams.0, key: key, at: pair.now)
    return streams
  }

  private func acceptStream(_ pair: inout DatagramPair) -> ConnectionID {
    let id = pair.host.makeConnectionID()
    let isAccepted = pair.host.accept(id, at: pair.now)
    precondition(isAccepted, "the host has room")
    return id
  }

  private func takeOutput(_ pair: inout DatagramPair, on client: ConnectionID) -> [UInt8] {
    var output: [UInt8] = []
    while let bytes = pair.client.pollTransmit(on: client, queued: 0, at: pair.now) {
      output += bytes
    }
    return output
  }

  private func deliver(_ bytes: [UInt8], on host: ConnectionID, _ pair: inout DatagramPair) {
    pair.host.receive(bytes.span, on: host, at: pair.now)
    pair.drain()
  }

  private func carryUp(_ streams: Streams, _ pair: inout DatagramPair) {
    let bytes = takeOutput(&pair, on: streams.client)
    deliver(bytes, on: streams.host, &pair)
  }

  private func carryDown(_ streams: Streams, _ pair: inout DatagramPair) {
    while let bytes = pair.host.pollTransmit(on: streams.host, queued: 0, at: pair.now) {
      pair.client.receive(bytes.span, on: streams.client, at: pair.now)
    }
    pair.drain()
  }

  @Test func `a stream does not get another key than its token was used for`() throws {
    var pair = try makePair()
    let streams = openStream(&pair, key)
    carryUp(streams, &pair)
    let index = try #require(pair.client.index(of: streams.client))
    pair.client.entries[index].connection.key = other
    carryDown(streams, &pair)
    carryUp(streams, &pair)
    #expect(pair.hostEvents.endings == [.protocolViolation])
    #expect(!pair.host.isOpen(streams.host) && pair.host.keys[other] == nil)
  }

  @Test func `a first message that is sent twice in one write uses no token up`() throws {
    var pair = try makePair()
    let streams = openStream(&pair, key)
    let first = takeOutput(&pair, on: streams.client)
    deliver(first + first, on: streams.host, &pair)
    #expect(pair.host.tickets?.count == 0)
    #expect(try holder(pair) == nil)
  }

  @Test func `a token that a stream adds to a connection with another is used up`() throws {
    var pair = try makePair()
    pair.connect(key)
    pair.exchange()
    pair.setClient(try ConnectTokenTests.makeToken(2), as: ConnectTokenTests.player)
    let streams = openStream(&pair, key)
    for _ in 0..<2 {
      carryUp(streams, &pair)
      carryDown(streams, &pair)
    }
    #expect(connection(pair)?.stream != nil && !pair.host.contains(streams.host))
    #expect(try holder(pair) == key)
    #expect(try holder(pair, 2) == nil)
    #expect(pair.host.tickets?.count == 2)
    let again = openStream(&pair, key)
    carryUp(again, &pair)
    #expect(pair.hostEvents.endings == [.tokenRefused(.used)])
  }

  @Test func `a stream that joins its connection leaves the token to it`() throws {
    var pair = try makePair()
    pair.connect(key)
    pair.exchange()
    let streams = (client: pair.id, host: acceptStream(&pair))
    pair.client.handleStreamConnected(pair.id, key: key, at: pair.now)
    for _ in 0..<2 {
      carryUp(streams, &pair)
      carryDown(streams, &pair)
    }
    #expect(connection(pair)?.stream != nil && !pair.host.contains(streams.host))
    #expect(try holder(pair) == key)
  }

  @Test func `somebody who repeats a stream's first message does not use its token up`() throws {
    var pair = try makePair()
    let streams = openStream(&pair, key)
    let first = takeOutput(&pair, on: streams.client)
    deliver(first, on: streams.host, &pair)
    let copies = (acceptStream(&pair), acceptStream(&pair))
    deliver(first, on: copies.0, &pair)
    pair.host.handleLinkEnd(.reset, of: copies.0, at: pair.now)
    pair.drain()
    #expect(try holder(pair) == key)
    pair.host.handleLinkEnd(.reset, of: streams.host, at: pair.now)
    pair.drain()
    #expect(try holder(pair) == nil)
    // The client's next attempt with the same key.
    deliver(first, on: copies.1, &pair)
    #expect(pair.host.connection(copies.1)?.stream?.keys != nil)
    #expect(try holder(pair) == key)
  }

  @Test func `a recorded first datagram does not move the messages of a stream`() throws {
    var pair = try makePair()
    pair.connect(key)
    let datagram = try #require(pair.takeToHost().first)
    let streams = (client: pair.id, host: acceptStream(&pair))
    pair.client.handleStreamConnected(pair.id, key: key, at: pair.now)
    for _ in 0..<3 {
      carryUp(streams, &pair)
      carryDown(streams, &pair)
    }
    #expect(pair.host.isOpen(streams.host))
    pair.deliverToHost(try prove(datagram, at: elsewhere, pair), from: elsewhere)
    #expect(pair.host.connection(streams.host)?.datagram?.route == elsewhere)
    #expect(pair.host.connection(streams.host)?.link == .stream)
  }

  @Test func `a late request on a stream takes no seat with the token of an ended connection`()
    throws
  {
    var pair = try makePair()
    let streams = openStream(&pair, key)
    carryUp(streams, &pair)
    carryDown(streams, &pair)
    let request = takeOutput(&pair, on: streams.client)
    pair.connect(key)
    pair.exchange()
    let connection = try #require(pair.hostID)
    #expect(pair.host.isOpen(connection))
    pair.client.close(pair.id, Goodbye(.left), at: pair.now)
    pair.run(for: .seconds(3))
    #expect(pair.host.connectionIDs == [streams.host])
    // The host has forgotten the key, because many other connections have ended since.
    pair.host.endedKeys = []
    deliver(request, on: streams.host, &pair)
    #expect(pair.hostEvents.endings == [.left, .connectionLost])
    let requests = pair.hostEvents.count { if case .requested = $0 { true } else { false } }
    #expect(requests == 1 && !pair.host.isOpen(streams.host))
  }

  // MARK: Datagrams

  @Test func `a first message without a request leaves no token in use`() throws {
    var pair = try makePair()
    let security = try #require(pair.client.side.security)
    var generator = SeededGenerator(seed: 9)
    let secret = SecretBytes(random: 32, using: &generator)
    let handshake = LinkHandshake.initiating(
      security, token: try ConnectTokenTests.makeToken(), key: key, payload: [1, 2, 3],
      ephemeral: KeyPair(secret: secret))
    var hello = Hello(key: key, epoch: 1, resumes: false, cookie: nil, isSealed: true)
    hello.hasTicket = true
    let part = HandshakePart(number: 1, keyPrefix: key.prefix, message: handshake.message)
    pair.deliverToHost(encode(hello, part))
    #expect(pair.host.connectionIDs.isEmpty && pair.host.tickets?.count == 1)
    #expect(try holder(pair) == nil)
  }

  @Test func `a token does not take an address from another connection`() throws {
    var pair = try makePair()
    pair.connect(key)
    pair.exchange()
    pair.deliverToHost(try makeOthersDatagram(pair))
    #expect(pair.host.connectionIDs.count == 1)
    try pair.client.send([42], on: 0, .reliableOrdered, to: pair.id, at: pair.now)
    pair.exchange()
    #expect(pair.hostMessages == [[42]])
  }

  @Test func `a connection that has lost its address gets it back`() throws {
    var pair = try makePair()
    pair.connect(key)
    pair.exchange()
    let address = PathAddress(endpoint: DatagramPair.clientRoute.endpoint, sender: .initiator)
    pair.host.paths[address] = nil
    let message = [UInt8](repeating: 42, count: 40)
    try pair.client.send(message, on: 0, .reliableOrdered, to: pair.id, at: pair.now)
    pair.run(for: .seconds(1))
    #expect(pair.hostMessages == [message])
  }

  @Test func `an answer to a proven address does not prove another one`() throws {
    var pair = try makePair()
    pair.connect(key)
    let datagram = try #require(pair.takeToHost().first)
    pair.deliverToHost(datagram, from: elsewhere)
    _ = pair.takeToClient()
    let index = try #require(pair.hostID.flatMap { pair.host.index(of: $0) })
    pair.host.entries[index].connection.datagram?.unprovenBudget = 0
    pair.deliverToHost(try prove(datagram, at: DatagramPair.clientRoute, pair))
    let answers = pair.takeToClient()
    #expect(!answers.isEmpty)
    for answer in answers { pair.deliverToClient(answer) }
    for packet in pair.takeToHost() { pair.deliverToHost(packet, from: elsewhere) }
    #expect(connection(pair)?.datagram?.route == DatagramPair.clientRoute)
    pair.run(for: .seconds(2))
    #expect(pair.client.isOpen(pair.id))
  }

  @Test func `a host without tokens answers a token with a retry, even from its own client`() {
    var pair = DatagramPair.opened(isEncrypted: true)
    pair.run(for: .milliseconds(50))
    var hello = Hello(key: pair.key, epoch: 1, resumes: false, cookie: nil, isSealed: true)
    hello.hasTicket = true
    let part = HandshakePart(number: 1, keyPrefix: pair.key.prefix, message: [1, 2, 3])
    pair.deliverToHost(encode(hello, part))
    #expect(pair.takeToClient().map(\.count) == [Retry.maximumLength])
  }

  // MARK: Groups

  @Test func `a late request takes no seat with an ended connection's token in a group either`()
    throws
  {
    var pair = try makePair()
    let security = pair.host.side.security
    var directory = HostDirectory(seats: 4, security: security)
    var generator = SeededGenerator(seed: 3)
    let identity = try #require(security?.identity)
    let seed = SecretBytes(random: SecretSource.length, using: &generator)
    let access = LinkAccess.tickets(ConnectTokenTests.makeReader())
    pair.host = Host(
      makePeer(1), seats: 4, secret: pair.host.secret,
      security: LinkSecurity(identity, access: access, seed: seed), member: 0)
    let streams = openStream(&pair, key)
    carryUp(streams, &pair)
    pair.host.resolveRequests(with: &directory, at: pair.now)
    carryDown(streams, &pair)
    let request = takeOutput(&pair, on: streams.client)
    let use = try #require(pair.host.connection(streams.host)?.secrets?.ticket)
    #expect(directory.tickets?.holder(of: use.ticket.id) == key)
    directory.tickets?.release(use.ticket)
    deliver(request, on: streams.host, &pair)
    pair.host.resolveRequests(with: &directory, at: pair.now)
    pair.drain()
    #expect(pair.hostEvents.endings == [.connectionLost])
    #expect(directory.owners[key] == nil)
  }

  @Test func `a token from an address that is not proven changes no relay`() throws {
    var pair = try makePair()
    var generator = SeededGenerator(seed: 3)
    let access = LinkAccess.tickets(ConnectTokenTests.makeReader())
    let security = LinkSecurity(using: &generator, access: access)
    var directory = HostDirectory(seats: 4, security: security)
    var hosts = (0..<2).map {
      Host(makePeer(1), seats: 4, secret: pair.host.secret, security: security, member: $0)
    }
    pair.connect(key)
    let datagram = try #require(pair.takeToHost().first)
    hosts[0].receiveDatagram(datagram.span, from: DatagramPair.clientRoute, at: pair.now)
    hosts[0].resolveRequests(with: &directory, at: pair.now)
    #expect(directory.owners[key]?.member == 0)
    func deliver(_ datagram: [UInt8]) {
      hosts[1].receiveDatagram(datagram.span, from: elsewhere, at: pair.now)
      hosts[1].resolveRequests(with: &directory, at: pair.now)
    }
    deliver(datagram)
    let handoff = hosts[1].pollHandoff()
    let retry = hosts[1].pollStatelessReply()
    #expect(handoff == nil && hosts[1].relays.isEmpty)
    #expect(retry?.bytes.count == Retry.maximumLength)
    hosts[1].relays[elsewhere.endpoint] = 0
    deliver(try makeOthersDatagram(pair))
    #expect(hosts[1].relays[elsewhere.endpoint] == 0 && hosts[1].connectionIDs.isEmpty)
  }
}
