import CaromCore
import Testing

@testable import CaromProtocol

/// What somebody can do who hears an encrypted connection, and thus knows its key: nothing but send
/// hints (WireFormat, "Encrypted connections").
@Suite struct EncryptedMoveTests {
  private let other = Route(Endpoint(.v4(0x0A00_0063), port: 9_999))

  /// A pair with an open connection on which nothing waits for an acknowledgement.
  private func makePair() -> DatagramPair {
    var pair = DatagramPair.opened(isEncrypted: true)
    pair.run(for: .milliseconds(50))
    return pair
  }

  /// The route to which the host sends the connection's next datagrams.
  private func route(of pair: DatagramPair) -> Route? {
    pair.hostID.flatMap { pair.host.connection($0)?.datagram?.route }
  }

  /// A hello with a greater epoch and a good cookie for `other`.
  private func makeHello(for pair: DatagramPair) -> Hello {
    Hello(
      key: pair.key, epoch: 9, resumes: true,
      cookie: Cookie(for: other.endpoint, secret: pair.host.secret, at: pair.now), isSealed: true)
  }

  private func encode(_ hello: Hello) -> [UInt8] {
    var writer = FrameWriter(limit: Hello.paddedLength)
    hello.write(to: &writer)
    return writer.takeBytes()
  }

  @Test func `a hello moves a path only with the tag of the connection`() throws {
    var pair = makePair()
    var hello = makeHello(for: pair)
    pair.deliverToHost(encode(hello), from: other)
    #expect(route(of: pair) == DatagramPair.clientRoute)
    let keys = try #require(pair.client.connection(pair.id)?.datagram?.keys)
    var earlier = hello
    earlier.epoch = 8
    hello.tag = keys.makeTag(of: earlier)
    pair.deliverToHost(encode(hello), from: other)
    #expect(route(of: pair) == DatagramPair.clientRoute)
    hello.tag = keys.makeTag(of: hello)
    pair.deliverToHost(encode(hello), from: other)
    #expect(route(of: pair) == other)
  }

  @Test func `a hello that was heard does not move the path a second time`() throws {
    var pair = makePair()
    let keys = try #require(pair.client.connection(pair.id)?.datagram?.keys)
    var hello = makeHello(for: pair)
    hello.tag = keys.makeTag(of: hello)
    let heard = encode(hello)
    pair.deliverToHost(heard, from: other)
    hello.epoch = 10
    hello.cookie = Cookie(
      for: DatagramPair.clientRoute.endpoint, secret: pair.host.secret, at: pair.now)
    hello.tag = keys.makeTag(of: hello)
    pair.deliverToHost(encode(hello))
    #expect(route(of: pair) == DatagramPair.clientRoute)
    pair.deliverToHost(heard, from: other)
    #expect(route(of: pair) == DatagramPair.clientRoute)
  }

  @Test func `a client whose address changes keeps its connection`() throws {
    var pair = makePair()
    // The host answers packets from an unknown address if they have at least 30 bytes.
    try pair.client.send([UInt8](repeating: 5, count: 30), on: 0, to: pair.id, at: pair.now)
    pair.drain()
    for datagram in pair.takeToHost() { pair.deliverToHost(datagram, from: other) }
    #expect(pair.hostMessages.isEmpty)
    for datagram in pair.takeToClient() { pair.deliverToClient(datagram) }
    for datagram in pair.takeToHost() { pair.deliverToHost(datagram, from: other) }
    #expect(route(of: pair) == other)
    for _ in 0..<3 {
      pair.now = pair.now + DatagramPair.delay
      for datagram in pair.takeToClient() { pair.deliverToClient(datagram) }
      for datagram in pair.takeToHost() { pair.deliverToHost(datagram, from: other) }
    }
    #expect(pair.client.isOpen(pair.id))
  }

  @Test func `an answer to a handshake does not move the path before the handshake is authentic`()
    throws
  {
    var pair = DatagramPair(isEncrypted: true)
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    pair.deliverInFlight()
    pair.deliverInFlight()
    let first = try #require(pair.takeToHost().last)
    pair.deliverToHost(first)
    let part = Array(first[Hello.length...])
    pair.deliverToHost(encode(makeHello(for: pair)) + part, from: other)
    #expect(route(of: pair) == DatagramPair.clientRoute)
    pair.exchange()
    #expect(pair.client.isOpen(pair.id))
  }

  @Test func `a handshake of somebody else keeps the initiator out for two seconds at most`()
    throws
  {
    var pair = DatagramPair(isEncrypted: true)
    let key = ConnectionKey(prefix: 1, rest: 2)
    var generator = SeededGenerator(seed: 1)
    var security = LinkSecurity(using: &generator)
    var secrets = security.takeSecrets()
    let hello = Hello(
      key: key, epoch: .max, resumes: false,
      cookie: Cookie(for: other.endpoint, secret: pair.host.secret, at: pair.now), isSealed: true)
    var writer = FrameWriter(limit: Hello.paddedLength)
    hello.write(to: &writer)
    HandshakePart(
      number: 1, keyPrefix: key.prefix,
      message: LinkHandshake.initiating(security, key: key, &secrets).message
    ).write(to: &writer)
    pair.deliverToHost(writer.takeBytes(), from: other)
    #expect(pair.host.connectionIDs.count == 1)
    _ = pair.takeToClient()
    pair.connect(key)
    pair.run(for: .milliseconds(1_900))
    #expect(!pair.client.isOpen(pair.id))
    pair.run(for: .seconds(3))
    #expect(pair.client.isOpen(pair.id))
    #expect(pair.host.connectionIDs.count == 1)
    // The epoch of the other hello has no effect, so the client can still move.
    pair.client.connect(pair.id, to: [DatagramPair.hostRoute], key: key, at: pair.now)
    pair.drain()
    for _ in 0..<8 {
      pair.now = pair.now + DatagramPair.delay
      for datagram in pair.takeToClient() { pair.deliverToClient(datagram) }
      for datagram in pair.takeToHost() { pair.deliverToHost(datagram, from: other) }
    }
    #expect(route(of: pair) == other)
  }

  @Test func `a host gives the tag of its refusals to nobody before the connection has ended`()
    throws
  {
    var pair = DatagramPair(isEncrypted: true)
    let key = ConnectionKey(prefix: 1, rest: 2)
    let cookie = Cookie(for: other.endpoint, secret: pair.host.secret, at: pair.now)
    let hellos = [
      Hello(key: key, epoch: 1, resumes: true, cookie: cookie, isSealed: true),
      Hello(key: key, epoch: 1, resumes: false, cookie: cookie, isSealed: false),
    ]
    for hello in hellos {
      pair.deliverToHost(encode(hello), from: other)
      #expect(pair.takeToClient().map(\.count) == [Refusal.length])
    }
    pair.connect(key)
    pair.exchange()
    #expect(pair.client.isOpen(pair.id))
  }

  @Test func `only the host's refusal ends an open connection`() throws {
    var pair = makePair()
    for tag in [nil, AuthenticationTag([UInt8](repeating: 0, count: 16))] {
      var writer = FrameWriter(limit: Refusal.maximumLength)
      Refusal(
        keyPrefix: pair.key.prefix, reason: Goodbye.Code.forgotten.rawValue, tag: tag
      ).write(to: &writer)
      pair.deliverToClient(writer.takeBytes())
      #expect(pair.client.isOpen(pair.id))
    }
    // The host has ended the connection, and the goodbye has not arrived.
    let id = try #require(pair.hostID)
    pair.host.close(id, Goodbye(.left), at: pair.now)
    pair.run(for: .milliseconds(1_500), delivers: false)
    _ = (pair.takeToClient(), pair.takeToHost())
    let index = try #require(pair.client.index(of: pair.id))
    pair.client.entries[index].connection.datagram?.reconnect(at: pair.now)
    pair.run(for: .seconds(1))
    #expect(pair.clientEvents.endings == [.connectionReset])
  }
}
