import CaromCore
import CaromCrypto
import CaromTesting
import Testing

@testable import CaromProtocol

/// Changes of the keys that encrypt a link (WireFormat, "Key changes").
@Suite struct KeyChangeTests {
  private static func limits(
    packets: UInt64 = 1 << 22, lifetime: Duration = .seconds(3_600)
  ) -> KeyLimits {
    var limits = KeyLimits()
    (limits.packets, limits.lifetime) = (packets, lifetime)
    return limits
  }

  private func makePair(
    _ limits: KeyLimits, ciphers: [Cipher] = [.chaChaPoly]
  ) -> DatagramPair {
    var pair = DatagramPair(isEncrypted: true, keyLimits: limits, ciphers: ciphers)
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    pair.exchange()
    return pair
  }

  private func keys(_ pair: DatagramPair) -> (host: PacketKeys?, client: PacketKeys?) {
    (
      pair.hostID.flatMap { pair.host.connection($0) }?.datagram?.packetKeys,
      pair.client.connection(pair.id)?.datagram?.packetKeys
    )
  }

  /// Lets the client send reliable messages, one each 20 ms.
  private func send(_ range: Range<Int>, _ pair: inout DatagramPair) throws {
    for number in range {
      let message = [UInt8(truncatingIfNeeded: number)]
      try pair.client.send(message, on: 0, .reliableOrdered, to: pair.id, at: pair.now)
      pair.run(for: .milliseconds(20))
    }
  }

  @Test(arguments: Cipher.allCases.filter(\.isAvailable))
  func `both sides change their keys after a number of packets`(cipher: Cipher) throws {
    var pair = makePair(Self.limits(packets: 20), ciphers: [cipher])
    try send(0..<200, &pair)
    #expect(pair.hostMessages == (0..<200).map { [UInt8($0)] })
    let keys = keys(pair)
    #expect(keys.host?.changes == keys.client?.changes)
    #expect((5...20).contains(keys.client?.changes ?? 0))
    #expect(pair.hostID.flatMap { pair.host.connection($0) }?.datagram?.forgedPackets == 0)
    #expect(pair.client.connection(pair.id)?.datagram?.forgedPackets == 0)
  }

  @Test func `both sides change their keys after a time`() {
    var pair = makePair(Self.limits(lifetime: .seconds(10)))
    pair.run(for: .seconds(9))
    #expect(keys(pair).client?.changes == 0)
    pair.run(for: .seconds(26))
    #expect(keys(pair).client?.changes == 3 && keys(pair).host?.changes == 3)
    #expect(pair.client.isOpen(pair.id))
  }

  @Test func `the limits are those of the specification`() {
    #expect(KeyLimits().packets == 4_194_304 && KeyLimits().lifetime == .seconds(3_600))
    #expect(KeyLimits.confidentialityLimit(of: .aesGCM) == 8_388_608)
    #expect(KeyLimits.integrityLimit(of: .aesGCM) == 4_503_599_627_370_496)
    #expect(KeyLimits.integrityLimit(of: .chaChaPoly) == 68_719_476_736)
    #expect(KeyLimits.roundTripsKept == 3)
  }

  @Test func `a side does not change its key again before the peer has followed`() throws {
    var pair = makePair(Self.limits(packets: 10))
    try send(0..<5, &pair)
    let before = try #require(keys(pair).client?.changes)
    for number in 0..<60 {
      try pair.client.send(
        [UInt8(number)], on: 0, .reliableOrdered, to: pair.id, at: pair.now)
      pair.run(for: .milliseconds(20), delivers: false)
      _ = (pair.takeToHost(), pair.takeToClient())
    }
    #expect(keys(pair).client?.changes == before + 1)
  }

  @Test func `a side that has followed changes its key only after an acknowledgement`() throws {
    var pair = makePair(Self.limits(packets: 30))
    try send(0..<5, &pair)
    try changeKeys(&pair)
    let id = try #require(pair.hostID)
    for number in 0..<60 {
      try pair.host.send([UInt8(number)], on: 0, .reliableOrdered, to: id, at: pair.now)
      pair.run(for: .milliseconds(20), delivers: false)
      _ = (pair.takeToHost(), pair.takeToClient())
    }
    #expect(keys(pair).host?.changes == 1)
  }

  @Test(arguments: [true, false])
  func `a packet of the old key counts if it is late, but not too late`(isTooLate: Bool) throws {
    var pair = makePair(Self.limits(packets: 1_000))
    try send(0..<10, &pair)
    try pair.client.send([42], on: 1, .unreliable, to: pair.id, at: pair.now)
    pair.drain()
    let late = try #require(pair.takeToHost().last)
    #expect(late[0] & 1 == 0)
    try changeKeys(&pair)
    pair.hostMessages.removeAll()
    if isTooLate { pair.run(for: .milliseconds(100)) }
    pair.deliverToHost(late)
    #expect(pair.hostMessages == (isTooLate ? [] : [[42]]))
    pair.deliverToHost(late)
    #expect(pair.hostMessages == (isTooLate ? [] : [[42]]))
  }

  /// Makes the client change its key now, and the host follow.
  private func changeKeys(_ pair: inout DatagramPair) throws {
    let index = try #require(pair.client.index(of: pair.id))
    let next = try #require(pair.client.entries[index].connection.datagram?.flow.nextNumber)
    pair.client.entries[index].connection.datagram?.packetKeys?.changeSending(
      at: next, at: pair.now.nanoseconds)
    try pair.client.send([1], on: 0, .reliableOrdered, to: pair.id, at: pair.now)
    pair.drain()
    let packets = pair.takeToHost()
    #expect(packets.contains { $0[0] & 1 == 1 })
    for packet in packets { pair.deliverToHost(packet) }
    #expect(keys(pair).host?.changes == 1)
  }

  @Test func `packets of both keys arrive in any order`() throws {
    var pair = makePair(Self.limits(packets: 10_000))
    try send(0..<10, &pair)
    var packets: [[UInt8]] = []
    for number in 0..<20 {
      if number == 10 {
        let index = try #require(pair.client.index(of: pair.id))
        let next = try #require(pair.client.entries[index].connection.datagram?.flow.nextNumber)
        pair.client.entries[index].connection.datagram?.packetKeys?.changeSending(
          at: next, at: pair.now.nanoseconds)
      }
      try pair.client.send([UInt8(number)], on: 1, .unreliable, to: pair.id, at: pair.now)
      pair.drain()
      packets += pair.takeToHost()
    }
    #expect(Set(packets.map { $0[0] & 1 }) == [0, 1])
    pair.hostMessages.removeAll()
    for packet in packets.reversed() { pair.deliverToHost(packet) }
    #expect(Set(pair.hostMessages) == Set((0..<20).map { [UInt8($0)] }))
    #expect(pair.hostMessages.count == 20 && keys(pair).host?.changes == 1)
    pair.exchange()
    #expect(pair.client.isOpen(pair.id))
  }

  @Test func `a packet whose key phase was changed is dropped, and changes no key`() throws {
    var pair = makePair(Self.limits(packets: 1_000))
    for _ in 0..<2 {
      pair.hostMessages.removeAll()
      try pair.client.send([42], on: 0, .reliableOrdered, to: pair.id, at: pair.now)
      pair.drain()
      let packet = try #require(pair.takeToHost().last)
      let changes = keys(pair).host?.changes
      var changed = packet
      changed[0] ^= 1
      pair.deliverToHost(changed)
      #expect(pair.hostMessages.isEmpty && keys(pair).host?.changes == changes)
      pair.deliverToHost(packet)
      #expect(pair.hostMessages == [[42]])
      pair.exchange()
      if changes == 0 { try changeKeys(&pair) }
      pair.exchange()
    }
  }

  @Test func `a plaintext packet with a key phase is malformed`() throws {
    var pair = DatagramPair.opened()
    try pair.client.send([42], on: 0, .reliableOrdered, to: pair.id, at: pair.now)
    pair.drain()
    var packet = try #require(pair.takeToHost().last)
    packet[0] |= 1
    pair.deliverToHost(packet)
    #expect(pair.hostMessages.isEmpty)
    let path = pair.hostID.flatMap { pair.host.connection($0) }?.datagram
    #expect(path?.malformedPackets == 1)
  }

  @Test func `after too many forged packets, the connection ends`() throws {
    var limits = KeyLimits()
    limits.forgedPackets = 5
    var pair = makePair(limits)
    try pair.client.send([42], on: 0, .reliableOrdered, to: pair.id, at: pair.now)
    pair.drain()
    var packet = try #require(pair.takeToHost().last)
    packet[packet.count - 1] ^= 1
    for count in 1...5 {
      #expect(pair.hostEvents.endings.isEmpty)
      packet[1] = UInt8(100 + count)
      pair.deliverToHost(packet)
    }
    #expect(pair.hostEvents.endings == [.connectionLost])
  }

  @Test func `a connection ends when its key may encrypt no more packets`() {
    var limits = KeyLimits()
    limits.encryptedPackets = 20
    var pair = makePair(limits)
    for number in 0..<40 as Range<UInt8> {
      _ = try? pair.client.send([number], on: 0, .reliableOrdered, to: pair.id, at: pair.now)
      pair.run(for: .milliseconds(20), delivers: false)
      _ = (pair.takeToHost(), pair.takeToClient())
    }
    #expect(pair.clientEvents.endings == [.connectionLost])
  }

  @Test func `beside a stream, what its key leaves unsent follows on the stream at once`() throws {
    var limits = KeyLimits()
    limits.encryptedPackets = 60
    var pair = VirtualPair(seed: 5, links: [.both, .encrypted], keyLimits: limits)
    try pair.world.run(for: .seconds(3))
    #expect(pair.clientPeer.connection?.datagram != nil)
    pair.world.withNode(of: pair.client) { node, network in
      node.sender = LoadSender(Load(bulkBytes: 200 << 10))
      node.handleTimeout(in: &network)
    }
    let start = pair.world.network.now
    #expect(try pair.runLoad(for: .seconds(10)))
    #expect(pair.clientPeer.connection?.datagram == nil && pair.clientPeer.endings.isEmpty)
    #expect(pair.world.network.now - start < .milliseconds(200))
  }

  static let links: [VirtualPeer.Links] = [
    [.datagram, .encrypted], [.stream, .encrypted], [.both, .encrypted],
  ]

  @Test(arguments: links, [LinkProfile("steady", .steady), LinkProfile("Wi-Fi", .wifi)])
  func `nothing is lost or doubled while keys change`(
    links: VirtualPeer.Links, profile: LinkProfile
  ) throws {
    var pair = VirtualPair(
      seed: 5, profile: profile, links: links, load: Load(hertz: 60, ticks: 600),
      keyLimits: Self.limits(packets: 40))
    #expect(try pair.runLoad(for: .seconds(60)))
    #expect(pair.faults.isEmpty && pair.hostPeer.endings.isEmpty && pair.clientPeer.endings.isEmpty)
    for peer in [pair.hostPeer, pair.clientPeer] {
      if links.contains(.datagram) {
        #expect((peer.connection?.datagram?.packetKeys?.changes ?? 0) > 5)
      } else {
        #expect((peer.connection?.stream?.bodyKeys?.changes ?? 0) > 5)
      }
    }
  }

  @Test(
    arguments: [[.stream, .encrypted], [.stream, .datagram, .encrypted]] as [VirtualPeer.Links])
  func `keys change on a stream after a time, also while it is idle`(
    links: VirtualPeer.Links
  ) throws {
    var pair = VirtualPair(
      seed: 5, links: links, keyLimits: Self.limits(lifetime: .seconds(10)))
    try pair.world.run(for: .seconds(35))
    for peer in [pair.hostPeer, pair.clientPeer] {
      #expect(peer.connection?.stream?.bodyKeys?.changes == 3)
      #expect(peer.endings.isEmpty && peer.openedAt != nil)
    }
  }

  @Test func `a key change in plaintext is a violation`() {
    var host = Connection.respondingOnStream(as: LocalSide(makePeer(1)), at: .zero)
    host.receive(.keyChange, on: .stream, at: .zero)
    let event = host.pollEvent()
    #expect(event == .closed(.protocolViolation))
    var pair = makePair(KeyLimits())
    let index = pair.client.index(of: pair.id)!
    pair.client.entries[index].connection.send(.keyChange, on: .datagram, at: pair.now)
    pair.client.markReady(index)
    pair.exchange()
    #expect(pair.hostEvents.endings == [.protocolViolation])
  }
}
