import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// Messages and goodbyes over datagrams (WireFormat, "Data packets" and "Session packets over
/// datagrams").
@Suite struct DatagramConnectionTests {
  private let now = Instant(nanoseconds: 1_000_000_000)
  private let key = ConnectionKey(prefix: 1, rest: 2)

  /// A pair with an open connection on which nothing waits for an acknowledgement.
  private func makePair() -> DatagramPair {
    var pair = DatagramPair.opened()
    pair.run(for: .milliseconds(50))
    return pair
  }

  @Test func `a packet that was received before is dropped`() throws {
    var pair = makePair()
    try pair.client.send([7], on: 0, .unreliable, to: pair.id, at: pair.now)
    pair.drain()
    let datagrams = pair.takeToHost()
    for datagram in datagrams + datagrams { pair.deliverToHost(datagram) }
    #expect(pair.hostMessages == [[7]])
  }

  @Test
  func `on an idle connection each ping is answered by one datagram, and nothing else is sent`()
    throws
  {
    var pair = makePair()
    let id = try #require(pair.hostID)
    pair.run(for: .seconds(2))
    let client = try #require(pair.client.statistics(of: pair.id)?.packetsSent)
    let host = try #require(pair.host.statistics(of: id)?.packetsSent)
    pair.run(for: .seconds(40))
    // The client pings each second. The host answers, and pings each four seconds; its ping is
    // answered in the same datagram that carries the client's next ping.
    #expect(pair.client.statistics(of: pair.id)?.packetsSent == client + 40)
    #expect(pair.host.statistics(of: id)?.packetsSent == host + 50)
  }

  @Test func `a goodbye is sent once every reliable message before it is acknowledged`() throws {
    var pair = makePair()
    try pair.client.send([7], on: 0, to: pair.id, at: pair.now)
    pair.client.close(pair.id, Goodbye(.left), at: pair.now)
    pair.run(for: .milliseconds(500), delivers: false)
    let packets = pair.takeToHost()
    #expect(packets.count > 1, "the message is sent again")
    for packet in packets.compactMap(DataPacket.init) {
      #expect(packet.frames.contains(.message(.reliableOrdered, 0, 0, [7])))
      #expect(!packet.hasGoodbye)
    }
    pair.deliverToHost(try #require(packets.last))
    #expect(pair.hostMessages == [[7]] && pair.hostEvents.endings.isEmpty)
    pair.run(for: .milliseconds(50))
    #expect(pair.hostMessages == [[7]] && pair.hostEvents.endings == [.left])
  }

  @Test func `a goodbye is acknowledged at once, and for one second again whenever it arrives`()
    throws
  {
    var pair = makePair()
    pair.client.close(pair.id, Goodbye(.left), at: pair.now)
    pair.drain()
    let goodbye = try #require(pair.takeToHost().first)
    #expect(try acknowledges(goodbye, in: &pair))
    pair.run(for: .milliseconds(999), delivers: false)
    let repeated = pair.takeToHost()
    _ = pair.takeToClient()
    #expect(repeated.count > 1)
    let (early, late) = (try #require(repeated.first), try #require(repeated.last))
    #expect(try acknowledges(late, in: &pair))
    pair.run(for: .milliseconds(1), delivers: false)
    #expect(try !acknowledges(early, in: &pair))
    #expect(pair.hostEvents.endings == [.left])
  }

  /// Delivers a datagram with a goodbye to the host. Returns whether the host acknowledges it.
  private func acknowledges(_ datagram: [UInt8], in pair: inout DatagramPair) throws -> Bool {
    let packet = try #require(DataPacket(datagram))
    #expect(packet.hasGoodbye)
    pair.deliverToHost(datagram)
    return pair.takeToClient().compactMap(DataPacket.init).flatMap(\.acknowledged)
      .contains { $0.contains(UInt64(packet.header.number)) }
  }

  @Test func `a message before the grant is neither delivered nor acknowledged`() throws {
    let hello = Hello(key: key, epoch: 1, resumes: false, cookie: nil)
    var host = Connection.responding(
      to: hello, from: DatagramPair.clientRoute, as: LocalSide(makePeer(1)), at: now)
    let request = ControlPacket.request(version: SessionWire.version, key, makePeer(2))
    var writer = PacketWriter()
    request.packet.encode(into: &writer)
    let first = DataPacket.encode(0, [.message(.reliableOrdered, 64, 0, writer.bytes)])
    let early = DataPacket.encode(1, [.message(.reliableOrdered, 0, 0, [7])])
    host.receiveDatagram(first.span, at: now)
    host.receiveDatagram(early.span, at: now)
    #expect(nextEvent(&host) == .requested(makePeer(2)))
    #expect(nextEvent(&host) == nil)
    let later = now + .milliseconds(20)
    host.handleTimeout(at: later)
    #expect(pollDatagrams(&host, at: later).map(\.acknowledged) == [[0...0]])
    host.admit(at: later)
    host.receiveDatagram(early.span, at: later)
    let message = host.pollMessage()
    #expect(message?.bytes == [7])
    #expect(pollDatagrams(&host, at: later + .milliseconds(20)).first?.acknowledged == [0...1])
  }

  @Test(arguments: [true, false])
  func `a side that is closing neither delivers nor acknowledges messages`(isClient: Bool) throws {
    var pair = makePair()
    let id = try #require(pair.hostID)
    let options = SendOptions(.reliableOrdered, wantsReceipt: true)
    if isClient {
      try pair.host.send([7].span, on: 1, options, to: id, at: pair.now)
      pair.client.close(pair.id, Goodbye(.left), at: pair.now)
    } else {
      try pair.client.send([7].span, on: 1, options, to: pair.id, at: pair.now)
      pair.host.close(id, Goodbye(.left), at: pair.now)
    }
    pair.drain()
    // The goodbye is lost, and arrives later than an acknowledgement would.
    _ = isClient ? pair.takeToHost() : pair.takeToClient()
    pair.run(for: .seconds(2))
    #expect(pair.hostMessages.isEmpty)
    #expect((isClient ? pair.clientEvents : pair.hostEvents).endings == [.closedLocally])
    let receipts = (pair.hostEvents + pair.clientEvents).count {
      if case .connection(_, .channel(.receipt(_, _, delivered: true))) = $0 { true } else { false }
    }
    #expect(receipts == 0)
  }
}
