import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// Messages that may not have arrived on one link are sent on another (WireFormat, "Link
/// selection").
@Suite struct LinkChangeTests {
  private let now = Instant(nanoseconds: 1_000_000_000)
  private let key = ConnectionKey(prefix: 1, rest: 2)
  private let message = Array("only once".utf8)

  /// A responder with a stream, whose connection is open, and which has sent what is due.
  private func makeResponder() -> Connection {
    var host = Connection.openResponder(key: key, at: now)
    _ = host.pollStream(queued: 0, at: now)
    return host
  }

  /// An initiator with both links, whose messages are carried by datagrams.
  private func makeInitiator() -> Connection {
    let route = Route(Endpoint(.loopback4, port: 1))
    var client = Connection.initiating(
      as: LocalSide(makePeer(2), timing: .withoutResuming), key: key, at: now)
    client.connect(to: [route], at: now)
    client.handleRetry(
      Retry(cookie: Cookie(bits: 1)!, keyPrefix: key.prefix), from: route, at: now)
    client.addStream(at: now)
    client.receive(ControlPacket.grant(version: 2, makePeer(1)).packet.framed().span, at: now)
    client.receiveDatagram([0x50, 0, 0].span, at: now)
    #expect(client.link == .datagram)
    _ = pollDatagrams(&client, at: now)
    _ = client.pollStream(queued: 0, at: now)
    _ = pollEvents(&client)
    return client
  }

  @Test func `a stream that replaces another carries its unacknowledged messages`() throws {
    var host = makeResponder()
    try host.send(message, on: 0, at: now)
    let first = host.pollStream(queued: 0, at: now) ?? []
    #expect(first.contains(message))
    host.adoptStream(StreamPath(limit: 4_096), of: nil, at: now)
    let grant = ControlPacket.grant(version: 2, makePeer(1)).packet.framed()
    let second = host.pollStream(queued: 0, at: now) ?? []
    #expect(second.starts(with: grant) && second.contains(message))
  }

  @Test func `a stream carries the messages of datagrams that are refused`() throws {
    var client = makeInitiator()
    try client.send(message, on: 0, at: now)
    let packets = pollDatagrams(&client, at: now)
    let frame = FrameValue.message(.reliableOrdered, 0, 0, message)
    #expect(packets.contains { $0.frames.contains(frame) })
    client.handleRefusal(Refusal(keyPrefix: key.prefix, reason: 11), at: now)
    #expect(pollEvents(&client) == [.linkChanged(.stream)])
    let sent = client.pollStream(queued: 0, at: now) ?? []
    #expect(sent.contains(message))
    let more = pollDatagrams(&client, at: now)
    #expect(more.isEmpty)
  }

  @Test func `datagrams carry the messages of a stream that ends`() throws {
    var host = makeResponder()
    try host.send(message, on: 0, at: now)
    _ = host.pollStream(queued: 0, at: now)
    host.receive(
      Hello(key: key, epoch: 1, resumes: true, cookie: nil), from: DatagramPair.clientRoute,
      at: now)
    _ = pollEvents(&host)
    host.receiveDatagram(DataPacket.encode(0, [.ping]).span, at: now)
    #expect(pollEvents(&host) == [.linkChanged(.datagram)])
    host.handleLinkEnd(.reset, at: now)
    let frame = FrameValue.message(.reliableOrdered, 0, 0, message)
    let packets = pollDatagrams(&host, at: now)
    #expect(packets.contains { $0.frames.contains(frame) })
    #expect(pollEvents(&host) == [])
  }

  @Test(arguments: [(0, true), (1, false)] as [(UInt64, Bool)])
  func `only a datagram that was sent after the end of the stream shows that the peer is alive`(
    missing: UInt64, isAlive: Bool
  ) throws {
    var client = makeInitiator()
    try client.send(message, on: 0, at: now)
    let earlier = pollDatagrams(&client, at: now)
    #expect(!earlier.isEmpty)
    client.handleLinkEnd(.reset, at: now)
    let probe = try #require(pollDatagrams(&client, at: now).last)
    let largest = UInt64(probe.header.number) - missing
    let later = now + .milliseconds(10)
    var bytes: [UInt8] = [0x50, 1, 0]
    let frames = encodeFrames([.acknowledgement([0...largest], AckDelay(byte: 0))])
    bytes += try #require(frames)
    client.receiveDatagram(bytes.span, at: later)
    client.handleTimeout(at: now + .seconds(1) + .nanoseconds(-1))
    #expect(client.isOpen)
    client.handleTimeout(at: now + .seconds(1))
    #expect(client.isOpen == isAlive)
    #expect(pollEvents(&client).endings == (isAlive ? [] : [.connectionReset]))
  }

  @Test(arguments: [nil, 20])
  func `a connection that is interrupted after 4 s can be resumed for resumeLimit, or for 10 s`(
    limit: Int?
  ) {
    var timing = SessionTiming()
    if let limit { timing.resumeLimit = .seconds(limit) }
    var host = Connection.openResponder(timing: timing, at: now)
    _ = pollEvents(&host)
    host.handleTimeout(at: now + .seconds(4))
    #expect(pollEvents(&host) == [.interrupted])
    #expect(nextLinkAction(&host) == .cut)
    let end = now + .seconds(4 + (limit ?? 10))
    host.handleTimeout(at: end + .nanoseconds(-1))
    #expect(pollEvents(&host) == [] && host.isOpen)
    host.handleTimeout(at: end)
    #expect(pollEvents(&host) == [.closed(.timedOut)])
  }
}
