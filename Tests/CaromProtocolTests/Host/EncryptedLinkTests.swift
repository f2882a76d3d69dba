import CaromCore
import CaromCrypto
import Testing

@testable import CaromProtocol

/// Encrypted connections over datagrams (WireFormat, "Encrypted connections").
@Suite struct EncryptedLinkTests {
  private let key = ConnectionKey(prefix: 1, rest: 2)

  /// A connected pair, and all datagrams that it exchanged.
  private func makeRecordedPair() -> (pair: DatagramPair, datagrams: [[UInt8]]) {
    var pair = DatagramPair(isEncrypted: true)
    var datagrams: [[UInt8]] = []
    pair.connect(key)
    for _ in 0..<40 {
      let (up, down) = (pair.takeToHost(), pair.takeToClient())
      datagrams += up + down
      pair.now = pair.now + DatagramPair.delay
      for datagram in up { pair.deliverToHost(datagram) }
      for datagram in down { pair.deliverToClient(datagram) }
    }
    return (pair, datagrams)
  }

  @Test func `each side learns the other's proven id`() {
    let pair = DatagramPair.opened(isEncrypted: true)
    let (host, client) = (pair.host.local.id, pair.client.local.id)
    #expect(pair.client.openPeer(of: pair.id)?.id == host)
    #expect(pair.hostID.flatMap { pair.host.openPeer(of: $0)?.id } == client)
    #expect(Set([host, client, makePeer(1).id, makePeer(2).id]).count == 4)
  }

  @Test func `a capture contains no name and no id`() throws {
    var (pair, datagrams) = makeRecordedPair()
    #expect(pair.client.isOpen(pair.id))
    pair.client.close(pair.id, Goodbye(.kicked, text: "a reason"), at: pair.now)
    pair.drain()
    datagrams += pair.takeToHost()
    let id = pair.client.local.id
    var writer = PacketWriter()
    writer.writeBigEndian(id.high)
    let texts = ["peer 1", "peer 2", "a reason"].map { Array($0.utf8) }
    for secret in texts + [writer.bytes] {
      #expect(!datagrams.contains { $0.contains(secret) })
    }
    var plain = DatagramPair()
    plain.connect(key)
    plain.now = plain.now + DatagramPair.delay
    for datagram in plain.takeToHost() { plain.deliverToHost(datagram) }
    for datagram in plain.takeToClient() { plain.deliverToClient(datagram) }
    let readable = plain.takeToHost()
    #expect(readable.contains { $0.contains(texts[1]) })
  }

  @Test func `a message costs 16 bytes more than in plaintext`() throws {
    func size(isEncrypted: Bool) throws -> Int {
      var pair = DatagramPair.opened(isEncrypted: isEncrypted)
      pair.run(for: .seconds(1))
      pair.run(for: .milliseconds(30))
      _ = pair.takeToHost()
      try pair.client.send([1, 2, 3], on: 0, .unreliable, to: pair.id, at: pair.now)
      pair.drain()
      return try #require(pair.takeToHost().last).count
    }
    #expect(try size(isEncrypted: true) == size(isEncrypted: false) + 16)
  }

  @Test func `a packet with any changed byte is dropped and changes nothing`() throws {
    var pair = DatagramPair.opened(isEncrypted: true)
    try pair.client.send([42], on: 0, .reliableOrdered, to: pair.id, at: pair.now)
    pair.drain()
    let packet = try #require(pair.takeToHost().last)
    for index in packet.indices {
      var changed = packet
      changed[index] ^= 0x01
      pair.deliverToHost(changed)
    }
    #expect(pair.hostMessages.isEmpty)
    pair.deliverToHost(packet)
    #expect(pair.hostMessages == [[42]])
    pair.deliverToHost(packet)
    #expect(pair.hostMessages == [[42]])
  }

  @Test func `first messages that are repeated just before the last one do not silence the host`()
    throws
  {
    var pair = DatagramPair(isEncrypted: true)
    pair.connect(key)
    var sent: [[UInt8]] = []
    for _ in 0..<10 {
      sent += pair.takeToHost()
      let down = pair.takeToClient()
      pair.now = pair.now + DatagramPair.delay
      // A busy host reads them all before it sends anything.
      for datagram in sent {
        pair.host.receiveDatagram(datagram.span, from: DatagramPair.clientRoute, at: pair.now)
      }
      pair.drain()
      for datagram in down { pair.deliverToClient(datagram) }
    }
    let id = try #require(pair.hostID)
    #expect(pair.host.isOpen(id))
    pair.drain()
    _ = pair.takeToClient()
    try pair.host.send([42], on: 0, .reliableOrdered, to: id, at: pair.now)
    pair.drain()
    #expect(!pair.takeToClient().isEmpty)
  }

  @Test func `a packet of one side is not accepted when it is sent back to it`() throws {
    var pair = DatagramPair.opened(isEncrypted: true)
    // The client has sent more packets than the host, so its number is not one of the host's.
    for _ in 0..<30 {
      try pair.client.send([42], on: 0, .unreliable, to: pair.id, at: pair.now)
      pair.run(for: .milliseconds(15))
    }
    try pair.client.send([42], on: 0, .unreliable, to: pair.id, at: pair.now)
    pair.drain()
    var packet = try #require(pair.takeToHost().last)
    packet[0] |= 0x40
    pair.deliverToClient(packet)
    #expect(pair.client.connection(pair.id)?.datagram?.forgedPackets == 1)
  }

  @Test func `a handshake with any changed byte does not complete`() throws {
    for step in 0..<3 {
      var pair = DatagramPair(isEncrypted: true)
      pair.connect(key)
      pair.deliverInFlight()
      pair.deliverInFlight()
      for _ in 0..<step { pair.deliverInFlight() }
      let isToHost = step != 1
      let inFlight = isToHost ? pair.takeToHost() : pair.takeToClient()
      let datagram = try #require(inFlight.last)
      var reader = PacketReader(datagram.span)
      var start = 0
      if case .hello(let hello) = try SessionDatagram(decoding: &reader) { start = hello.length }
      let length = HandshakePart.headLength + Int(datagram[start + 10])
      for index in start + HandshakePart.headLength..<start + length {
        var changed = datagram
        changed[index] ^= 0x80
        var copy = pair
        if isToHost { copy.deliverToHost(changed) } else { copy.deliverToClient(changed) }
        for _ in 0..<4 { copy.deliverInFlight() }
        #expect(!copy.client.isOpen(pair.id), "message \(step + 1), byte \(index)")
      }
      if isToHost { pair.deliverToHost(datagram) } else { pair.deliverToClient(datagram) }
      pair.exchange()
      #expect(pair.client.isOpen(pair.id))
    }
  }

  @Test func `a repeated first message gets the same answer`() throws {
    var pair = DatagramPair(isEncrypted: true)
    pair.connect(key)
    pair.deliverInFlight()
    pair.deliverInFlight()
    let first = try #require(pair.takeToHost().last)
    pair.deliverToHost(first)
    let answer = try #require(pair.takeToClient().last)
    pair.deliverToHost(first)
    let answers = pair.takeToClient()
    #expect(answers == [answer])
    #expect(pair.host.connectionIDs.count == 1)
  }

  @Test(arguments: [true, false])
  func `a host refuses a client that differs in encryption, and neither falls back`(
    hostEncrypts: Bool
  ) {
    var pair = DatagramPair(isEncrypted: hostEncrypts)
    let other = DatagramPair(isEncrypted: !hostEncrypts)
    pair.client = other.client
    pair.connect(key)
    pair.run(for: .seconds(12))
    #expect(pair.clientEvents.endings == [.securityMismatch])
    #expect(pair.host.connectionIDs.isEmpty)
  }

  @Test(
    .enabled(if: Cipher.aesGCM.isAvailable, "the processor has no instructions for AES"),
    arguments: [[Cipher.chaChaPoly], [.aesGCM, .chaChaPoly]])
  func `the host chooses its best cipher of those that the client offers`(offered: [Cipher]) {
    var pair = DatagramPair(isEncrypted: true)
    var generator = SeededGenerator(seed: 7)
    pair.client = Host(
      makePeer(2), seats: 0, security: LinkSecurity(using: &generator, ciphers: offered))
    pair.connect(key)
    pair.exchange()
    #expect(pair.client.connection(pair.id)?.datagram?.keys?.cipher == offered[0])
  }

  @Test func `a peer that describes itself with another id is refused`() {
    var pair = DatagramPair(isEncrypted: true)
    pair.connect(key)
    pair.deliverInFlight()
    pair.deliverInFlight()
    var liar = pair.client.local
    liar.id = makePeer(9).id
    let index = pair.client.index(of: pair.id)!
    pair.client.entries[index].connection.hasSentRequest = true
    pair.client.entries[index].connection.send(
      .request(version: SessionWire.version, key, liar), on: .datagram, at: pair.now)
    pair.exchange()
    #expect(pair.clientEvents.endings == [.identityMismatch])
    #expect(pair.hostEvents.endings == [.identityMismatch])
  }
}

extension DatagramPair {
  /// Delivers the datagrams that are in flight, in both directions, without waiting for timeouts.
  mutating func deliverInFlight() {
    now = now + Self.delay
    let (up, down) = (takeToHost(), takeToClient())
    for datagram in up { deliverToHost(datagram) }
    for datagram in down { deliverToClient(datagram) }
  }
}
