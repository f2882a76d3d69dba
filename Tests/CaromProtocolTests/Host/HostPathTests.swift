import CaromCore
import Testing

@testable import CaromProtocol

/// How a host assigns datagrams to connections, and moves their paths (WireFormat, "Starting and
/// moving a path", steps 3 to 5).
@Suite struct HostPathTests {
  private let other = Route(Endpoint(.v4(0x0A00_0063), port: 9_999))

  /// A pair with an open connection on which nothing waits for an acknowledgement.
  private func makePair() -> DatagramPair {
    var pair = DatagramPair.opened()
    pair.run(for: .milliseconds(50))
    return pair
  }

  /// A datagram of the client's with a message and, before it, a hello that proves an address.
  private func makeDatagram(
    epoch: UInt32, from source: Route, of pair: inout DatagramPair
  ) throws -> [UInt8] {
    try pair.client.send([7], on: 0, to: pair.id, at: pair.now)
    pair.drain()
    let packet = try #require(pair.takeToHost().last)
    let hello = Hello(
      key: pair.key, epoch: epoch, resumes: true,
      cookie: Cookie(for: source.endpoint, secret: pair.host.secret, at: pair.now))
    var writer = FrameWriter(limit: Hello.paddedLength)
    hello.write(to: &writer)
    return writer.takeBytes() + packet
  }

  /// The route to which the host sends the connection's next datagrams.
  private func route(of pair: DatagramPair) -> Route? {
    pair.hostID.flatMap { pair.host.connection($0)?.datagram?.route }
  }

  @Test(arguments: [(1, false), (2, true), (9, true)] as [(UInt32, Bool)])
  func `a hello with a greater epoch moves the path, and its packet is processed`(
    epoch: UInt32, moves: Bool
  ) throws {
    var pair = makePair()
    let datagram = try makeDatagram(epoch: epoch, from: other, of: &pair)
    pair.deliverToHost(datagram, from: other)
    #expect(pair.hostMessages == (moves ? [[7]] : []))
    #expect(route(of: pair) == (moves ? other : DatagramPair.clientRoute))
    #expect(pair.host.connectionIDs.count == 1)
    let answers = pair.takeToClient()
    #expect(
      answers.isEmpty == !moves, "a moved path is tested with a ping, and nothing else is sent")
  }

  @Test func `the packet after a hello that changes nothing is processed from its address`() throws
  {
    var pair = makePair()
    let datagram = try makeDatagram(epoch: 1, from: DatagramPair.clientRoute, of: &pair)
    pair.deliverToHost(datagram)
    #expect(pair.hostMessages == [[7]])
    #expect(route(of: pair) == DatagramPair.clientRoute)
  }

  @Test func `after a path has moved, the old address is unknown`() throws {
    var pair = makePair()
    pair.deliverToHost(try makeDatagram(epoch: 2, from: other, of: &pair), from: other)
    _ = pair.takeToClient()
    pair.deliverToHost([0x10, 0, 1] + [UInt8](repeating: 0, count: 27))
    let answers = pair.takeToClient()
    #expect(answers.count == 1 && answers.first?.count == 9 && answers.first?.first == 0x81)
  }

  @Test func `a hello with a cookie for another address does not move a path`() throws {
    var pair = makePair()
    let datagram = try makeDatagram(epoch: 2, from: DatagramPair.clientRoute, of: &pair)
    pair.deliverToHost(datagram, from: other)
    #expect(route(of: pair) == DatagramPair.clientRoute && pair.hostMessages == [])
    let answers = pair.takeToClient()
    #expect(answers.count == 1 && answers.first?.count == 9 && answers.first?.first == 0x81)
  }

  @Test(
    arguments: [
      [], [0x83], [0xFF, 0, 0], [0x80], [0x81, 0, 0, 0, 0, 0, 0, 0, 0],
      [0x81, 1, 0, 0, 0, 0, 0, 0, 0], [0x82, 1, 0, 0, 0, 0, 0, 0, 0, 11],
      [0x50] + [UInt8](repeating: 0, count: 40), [0x10] + [UInt8](repeating: 0, count: 28),
    ] as [[UInt8]])
  func `a datagram that no responder expects is not answered`(bytes: [UInt8]) {
    var pair = makePair()
    pair.deliverToHost(bytes, from: other)
    pair.deliverToHost(bytes, from: Route(Endpoint(.loopback6, port: 1)))
    #expect(pair.takeToClient() == [])
    #expect(pair.hostEvents.endings == [] && pair.host.connectionIDs.count == 1)
  }

  @Test func `a retry from the host's address makes the client prove its own again`() throws {
    var pair = makePair()
    let retry = Retry(cookie: try #require(Cookie(bits: 0x0102)), keyPrefix: nil)
    var writer = FrameWriter(limit: Retry.maximumLength)
    retry.write(to: &writer)
    pair.deliverToClient(writer.takeBytes())
    let packets = pair.takeToHost().compactMap(DataPacket.init)
    #expect(packets.count == 1)
    #expect(
      packets.first?.hello
        == Hello(key: pair.key, epoch: 2, resumes: true, cookie: Cookie(bits: 0x0102)))
    #expect(packets.first?.frames.contains(.ping) == true)
  }

  @Test func `each packet of the initiator is preceded by its hello until the responder answers`()
    throws
  {
    var pair = DatagramPair()
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    for hello in pair.takeToHost() { pair.deliverToHost(hello) }
    for retry in pair.takeToClient() { pair.deliverToClient(retry) }
    pair.run(for: .seconds(1), delivers: false)
    let before = pair.takeToHost()
    #expect(before.count > 1)
    let packets = before.compactMap(DataPacket.init)
    #expect(packets.count == before.count, "the address has answered, so no more bare hellos")
    #expect(packets.allSatisfy { $0.hello?.epoch == 1 && $0.hello?.cookie != nil })
    #expect(packets.first?.controls == [.request(version: 2, pair.key, makePeer(2))])
    pair.deliverToHost(try #require(before.first))
    pair.exchange()
    pair.run(for: .milliseconds(100))
    try pair.client.send([7], on: 0, to: pair.id, at: pair.now)
    pair.drain()
    let after = pair.takeToHost().compactMap(DataPacket.init)
    #expect(!after.isEmpty && after.allSatisfy { $0.hello == nil })
  }
}
