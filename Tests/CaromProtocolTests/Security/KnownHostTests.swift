import CaromCore
import CaromCrypto
import CaromTesting
import Testing

@testable import CaromProtocol

/// Connections of clients that have the host's key, which may be wrong, beforehand (WireFormat,
/// "Known hosts").
@Suite struct KnownHostTests {
  private let key = ConnectionKey(prefix: 1, rest: 2)
  private let stranger = Route(Endpoint(.v4(0x0A00_0063), port: 9_999))

  private func requests(of events: [HostEvent]) -> Int {
    events.count { if case .requested = $0 { true } else { false } }
  }

  /// A pair whose client has sent its first message, which is still in flight, to a host whose key
  /// it knows.
  private func makeBegunPair(hostKey: PublicKey? = nil) throws -> (pair: DatagramPair, [UInt8]) {
    var pair = DatagramPair(isEncrypted: true)
    pair.connect(key, hostKey: hostKey ?? pair.hostKey)
    for _ in 0..<2 { pair.deliverInFlight() }
    let first = try #require(pair.takeToHost().last)
    return (pair, first)
  }

  private func handshake(of pair: DatagramPair) -> LinkProtection.Handshake? {
    pair.client.protection(of: pair.id)?.handshake
  }

  // MARK: Joining

  @Test(arguments: CodeTests.links, [true, false])
  func `a client that has the right or a wrong key of the host plays with it`(
    links: VirtualPeer.Links, isRight: Bool
  ) throws {
    var generator = SeededGenerator(seed: 77)
    var pair = VirtualPair(
      seed: 3, links: links, load: Load(hertz: 60, ticks: 30), knowsHost: isRight,
      hostKey: Identity(using: &generator).publicKey)
    #expect(try pair.runLoad(for: .seconds(10)))
    #expect(pair.faults.isEmpty && pair.hostPeer.endings.isEmpty)
    for (peer, other) in [
      (pair.hostPeer, pair.clientPeer), (pair.clientPeer, pair.hostPeer),
    ] {
      let id = try #require(peer.id)
      #expect(peer.machine.protection(of: id)?.handshake == (isRight ? .ik : .xx))
      #expect(peer.machine.proof(of: id)?.key == other.publicKey)
      #expect((peer.connection?.datagram != nil) == links.contains(.datagram))
      #expect((peer.connection?.stream?.isJoined == true) == links.contains(.stream))
      #expect(peer.connection?.stream?.keys.map(\.usesKnownKey) != !isRight)
    }
  }

  @Test func `a first message for a known host contains no name and no id`() throws {
    let (pair, first) = try makeBegunPair()
    var writer = PacketWriter()
    writer.writeBigEndian(pair.client.local.id.high)
    for secret in [Array("peer 2".utf8), writer.bytes] { #expect(!first.contains(secret)) }
    // The message is long, so its length takes two bytes.
    #expect(first[Hello.length + HandshakePart.headLength + 1] & 0xF0 == 0x30)
  }

  @Test func `a key with which nothing can be encrypted changes nothing`() throws {
    var pair = DatagramPair(isEncrypted: true)
    pair.connect(key, hostKey: PublicKey([UInt8](repeating: 0, count: 32).span))
    pair.exchange()
    #expect(pair.client.isOpen(pair.id) && handshake(of: pair) == .xx)
  }

  @Test func `a client sends a known key's first message only to a host that it would accept`()
    throws
  {
    var known = KnownPeers()
    var generator = SeededGenerator(seed: 78)
    try known.insert("somebody", Identity(using: &generator).publicKey)
    let code = LinkAccess.code(try JoinCode("K7QM-2XRT"), isForOneUse: false)
    for (access, offer) in [(LinkAccess.known(known, name: nil), 0x00), (code, 0x10)]
      as [(LinkAccess, UInt8)]
    {
      var pair = DatagramPair(isEncrypted: true, access: access)
      pair.connect(key, hostKey: pair.hostKey)
      for _ in 0..<2 { pair.deliverInFlight() }
      let first = try #require(pair.takeToHost().last)
      #expect(first[Hello.length + HandshakePart.headLength] & 0xF0 == offer)
    }
  }

  @Test(arguments: ["the server", nil])
  func `a list of known keys is enough to know the host beforehand`(name: String?) throws {
    var pair = DatagramPair(isEncrypted: true)
    var known = KnownPeers()
    try known.insert("the server", try #require(pair.hostKey))
    pair.setClient(access: .known(known, name: name))
    // Without a name, the key must be advertised.
    pair.connect(key, hostKey: name == nil ? pair.hostKey : nil)
    pair.exchange()
    #expect(pair.client.isOpen(pair.id) && handshake(of: pair) == .ik)
  }

  @Test(arguments: CodeTests.links)
  func `a known name with another key is told with both fingerprints, whichever is advertised`(
    links: VirtualPeer.Links
  ) throws {
    var generator = SeededGenerator(seed: 79)
    let before = Identity(using: &generator)
    var known = KnownPeers()
    try known.insert("the server", before.publicKey)
    // The advertised key is the right one, but not the one that the client knows.
    var pair = VirtualPair(
      seed: 3, links: links, access: (.anyone, .known(known, name: "the server")),
      knowsHost: true)
    try pair.world.run(for: .seconds(2))
    guard case .untrusted(let why)? = pair.clientPeer.endings.first else {
      Issue.record("the host was not refused")
      return
    }
    let now = Fingerprint(try #require(pair.hostPeer.publicKey))
    #expect(why.contains("\(before.fingerprint)") && why.contains("\(now)"))
    #expect(requests(of: pair.hostPeer.events) == 0)
  }

  @Test func `a host refuses an unknown client before it hears of the request`() throws {
    var known = KnownPeers()
    var generator = SeededGenerator(seed: 80)
    try known.insert("Maya", Identity(using: &generator).publicKey)
    var pair = DatagramPair(isEncrypted: true, access: .known(known, name: nil))
    pair.setClient(access: .anyone)
    pair.connect(key, hostKey: pair.hostKey)
    pair.exchange()
    #expect(pair.clientEvents.endings == [.untrusted("")])
    #expect(requests(of: pair.hostEvents) == 0)
  }

  // MARK: Losses

  @Test func `a repeated first message gets the same answer`() throws {
    var (pair, first) = try makeBegunPair()
    pair.deliverToHost(first)
    let answer = try #require(pair.takeToClient().last)
    pair.deliverToHost(first)
    let second = try #require(pair.takeToClient().last)
    let length = HandshakePart.headLength + 49
    #expect(answer.prefix(length) == second.prefix(length))
    #expect(requests(of: pair.hostEvents) == 1)
    pair.deliverToClient(second)
    // The grant was in the datagram that was lost.
    pair.run(for: .seconds(1))
    #expect(pair.client.isOpen(pair.id) && handshake(of: pair) == .ik)
  }

  @Test func `a client whose cookie changes before the answer arrives begins again`() throws {
    var (pair, first) = try makeBegunPair()
    pair.deliverToHost(first)
    #expect(!pair.takeToClient().isEmpty)
    // The host asks for a proof of the address again, with a cookie of a later time.
    let later = pair.now + .seconds(16)
    var writer = FrameWriter(limit: Retry.maximumLength)
    Retry(
      cookie: Cookie(
        for: DatagramPair.clientRoute.endpoint, secret: pair.host.secret, at: later),
      keyPrefix: nil
    ).write(to: &writer)
    pair.deliverToClient(writer.takeBytes())
    pair.now = later
    let second = try #require(pair.takeToHost().last)
    #expect(second != first)
    pair.deliverToHost(second)
    for datagram in pair.takeToClient() { pair.deliverToClient(datagram) }
    #expect(pair.client.isOpen(pair.id) && handshake(of: pair) == .ik)
    #expect(requests(of: pair.hostEvents) == 1 && pair.host.connectionIDs.count == 1)
    pair.exchange()
    #expect(pair.hostID.map { pair.host.isOpen($0) } == true)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `a client joins a known host once despite loss and duplication`(seed: UInt64) throws {
    let bad = LinkConditions(oneWay: .milliseconds(20), loss: 0.3).with { $0.duplication = 0.2 }
    var pair = VirtualPair(
      seed: seed, profile: LinkProfile("bad", bad), links: [.both, .encrypted],
      load: Load(hertz: 30, ticks: 30), knowsHost: true)
    #expect(try pair.runLoad(for: .seconds(60)))
    #expect(pair.faults.isEmpty)
    // The client's stream may still be in its handshake, before it joins the connection.
    let host = pair.hostPeer.machine
    #expect(host.connectionIDs.count { host.isOpen($0) } == 1)
  }

  // MARK: Attacks

  @Test(arguments: [true, false])
  func `a first message or an answer with any changed byte opens nothing`(isFirst: Bool) throws {
    var (pair, datagram) = try makeBegunPair()
    var start = Hello.length
    if !isFirst {
      pair.deliverToHost(datagram)
      datagram = try #require(pair.takeToClient().last)
      start = 0
    }
    // What follows the message is the grant, which the test of data packets covers.
    let end = isFirst ? datagram.count : HandshakePart.headLength + 49
    #expect(end > start + 49)
    for index in start..<end {
      var (copy, changed) = (pair, datagram)
      changed[index] ^= 0x40
      if isFirst { copy.deliverToHost(changed) } else { copy.deliverToClient(changed) }
      for _ in 0..<4 { copy.deliverInFlight() }
      #expect(!copy.client.isOpen(pair.id), "byte \(index)")
      if isFirst { #expect(requests(of: copy.hostEvents) == 0, "byte \(index)") }
    }
    if isFirst { pair.deliverToHost(datagram) } else { pair.deliverToClient(datagram) }
    pair.exchange()
    #expect(pair.client.isOpen(pair.id))
  }

  @Test func `a first message begins nothing behind another hello`() throws {
    let (pair, first) = try makeBegunPair()
    let cookies = [DatagramPair.clientRoute, stranger].map {
      Cookie(for: $0.endpoint, secret: pair.host.secret, at: pair.now)
    }
    for (route, cookie, epoch, isSame) in [
      (DatagramPair.clientRoute, cookies[0], 1, true),
      (DatagramPair.clientRoute, cookies[0], 2, false), (stranger, cookies[1], 1, false),
    ] as [(Route, Cookie, UInt32, Bool)] {
      var copy = pair
      let hello = Hello(key: key, epoch: epoch, resumes: false, cookie: cookie, isSealed: true)
      copy.deliverToHost(hello.encoded + first[Hello.length...], from: route)
      #expect((requests(of: copy.hostEvents) == 1) == isSame)
      // The answer that the real sender can read takes one of its own messages more.
      #expect(copy.host.connectionIDs.count == 1)
    }
  }

  @Test func `what was heard of a connection begins no other one after its end`() throws {
    var (pair, first) = try makeBegunPair()
    pair.deliverToHost(first)
    pair.exchange()
    pair.client.close(pair.id, Goodbye(.left), at: pair.now)
    pair.run(for: .seconds(3))
    #expect(pair.hostEvents.endings == [.left])
    pair.deliverToHost(first)
    #expect(requests(of: pair.hostEvents) == 1 && pair.host.connectionIDs.isEmpty)
    // A host that has forgotten the connection does not know whether the message is new.
    pair.host.endedKeys = []
    var memory = KeyMemory()
    memory.recordForgotten(endedAt: pair.now)
    pair.host.memory = memory
    pair.deliverToHost(first)
    #expect(requests(of: pair.hostEvents) == 1 && pair.host.connectionIDs.count == 1)
    pair.run(for: .seconds(12), delivers: false)
    #expect(requests(of: pair.hostEvents) == 1 && pair.host.connectionIDs.isEmpty)
  }

  @Test func `a host that has forgotten a key joins clients as if they did not know its own`()
    throws
  {
    var pair = DatagramPair(isEncrypted: true)
    for number in 0..<66 as Range<UInt64> {
      pair.connect(ConnectionKey(prefix: number, rest: 2), hostKey: pair.hostKey)
      pair.exchange()
      #expect(handshake(of: pair) == (number < 65 ? .ik : .xx), "connection \(number)")
      pair.client.close(pair.id, Goodbye(.left), at: pair.now)
      pair.exchange()
      pair.run(for: .milliseconds(number < 64 ? 100 : 1_100))
      if number == 64 { #expect(pair.host.endedKeys.count == 64) }
    }
    // Those that end from now on displace keys that do not matter any more.
    pair.run(for: .seconds(32))
    for number in 100..<102 as Range<UInt64> {
      pair.connect(ConnectionKey(prefix: number, rest: 2), hostKey: pair.hostKey)
      pair.exchange()
      #expect(handshake(of: pair) == .ik)
      pair.client.close(pair.id, Goodbye(.left), at: pair.now)
      pair.run(for: .milliseconds(1_100))
    }
  }

  @Test func `a first message on another stream has no effect`() throws {
    var pair = DatagramPair(isEncrypted: true)
    let id = pair.client.makeConnectionID()
    pair.client.handleStreamConnected(id, key: key, hostKey: pair.hostKey, at: pair.now)
    let sent = pair.client.pollTransmit(on: id, queued: 0, at: pair.now)
    let first = try #require(sent)
    for _ in 0..<2 {
      let stream = pair.host.makeConnectionID()
      let isAccepted = pair.host.accept(stream, at: pair.now)
      #expect(isAccepted)
      pair.host.receive(first.span, on: stream, at: pair.now)
      let answer = pair.host.pollTransmit(on: stream, queued: 0, at: pair.now)
      #expect(answer != nil)
      pair.drain()
    }
    #expect(pair.host.strangerCount == 2 && requests(of: pair.hostEvents) == 0)
    pair.run(for: .seconds(11))
    #expect(pair.host.connectionIDs.isEmpty && requests(of: pair.hostEvents) == 0)
  }

  // MARK: Groups

  @Test(arguments: CodeTests.links, [1, 2] as [UInt64])
  func `each host of a group answers a client that knows their key`(
    links: VirtualPeer.Links, seed: UInt64
  ) throws {
    var world = VirtualWorld<GroupNode>(seed: seed)
    let machine = world.network.addHost(on: [0])
    let load = Load(hertz: 30, ticks: 30)
    let group = VirtualHostGroup(
      on: machine, members: 4, seats: 16, load: load, access: .anyone, seed: seed)
    let hostKey = group.hosts[0].side.security?.identity?.publicKey
    world.start(GroupNode(group: group), on: machine)
    var clients: [VirtualHost] = []
    for _ in 0..<8 {
      let host = world.network.addHost(on: [0])
      let client = VirtualPeer(
        on: host, connectingTo: machine, links: links, load: load, hostKey: hostKey, seed: seed)
      world.start(GroupNode(client: client), on: host)
      clients.append(host)
    }
    try world.run(for: .seconds(5), stepLimit: 5_000_000)
    #expect(world[machine]!.group!.opened == 8)
    for host in clients {
      let peer = world[host]!.client!
      #expect(peer.openedAt != nil && peer.endings.isEmpty)
      #expect(peer.id.flatMap { peer.machine.protection(of: $0)?.handshake } == .ik)
    }
  }
}
