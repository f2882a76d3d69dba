import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// Requests, grants and refusals (WireFormat, "The life of a connection", steps 1 and 2).
@Suite struct HandshakeTests {
  private let now = Instant(nanoseconds: 1_000_000_000)
  private static let key = ConnectionKey(prefix: 1, rest: 2)
  private static let otherKey = ConnectionKey(prefix: 1, rest: 3)

  private func makeResponder() -> Connection {
    .respondingOnStream(as: LocalSide(makePeer(1)), at: now)
  }

  private func makeInitiator() -> Connection {
    var client = Connection.initiatingOnStream(
      as: LocalSide(makePeer(2)), key: Self.key, at: now)
    let request = ControlPacket.request(version: 2, Self.key, makePeer(2)).packet.framed()
    #expect(client.pollStream(queued: 0, at: now) == request)
    return client
  }

  private func receive(_ packet: ControlPacket, on connection: inout Connection) {
    connection.receive(packet.packet.framed().span, at: now)
  }

  /// Expects that a connection has ended with `reason`, and sends `goodbye` and nothing else.
  private func expectEnd(
    _ connection: inout Connection, _ reason: DisconnectReason, _ goodbye: Goodbye
  ) {
    #expect(pollEvents(&connection) == [.closed(reason)])
    #expect(
      connection.pollStream(queued: 0, at: now) == ControlPacket.goodbye(goodbye).packet.framed())
  }

  @Test(arguments: [
    ControlPacket.join(version: 2, .none), .grant(version: 2, makePeer(2)), .ping(sent: 1),
    .pong(sent: 1, clock: 1), .token(AddressToken([UInt8](repeating: 1, count: 24))!),
  ])
  func `before its request a peer sends nothing else`(packet: ControlPacket) {
    var host = makeResponder()
    receive(packet, on: &host)
    expectEnd(&host, .protocolViolation, Goodbye(.protocolViolation))
  }

  @Test(arguments: [
    ControlPacket.join(version: 2, key), .join(version: 2, .none),
    .request(version: 2, otherKey, makePeer(2)),
    .grant(version: 2, makePeer(2)), .token(AddressToken([UInt8](repeating: 1, count: 24))!),
  ])
  func `after the grant an initiator repeats nothing but its request`(packet: ControlPacket) {
    var host = makeResponder()
    receive(.request(version: 2, Self.key, makePeer(2)), on: &host)
    host.admit(at: now)
    _ = pollEvents(&host)
    _ = host.pollStream(queued: 0, at: now)
    receive(.request(version: 2, Self.key, makePeer(2)), on: &host)
    #expect(
      host.pollStream(queued: 0, at: now)
        == ControlPacket.grant(version: 2, makePeer(1)).packet.framed())
    #expect(pollEvents(&host) == [])
    receive(packet, on: &host)
    expectEnd(&host, .protocolViolation, Goodbye(.protocolViolation))
  }

  @Test(arguments: [
    ControlPacket.join(version: 2, key), .request(version: 2, key, makePeer(1)), .ping(sent: 1),
    .pong(sent: 1, clock: 1), .token(AddressToken([UInt8](repeating: 1, count: 24))!),
  ])
  func `before its grant a responder sends nothing else on a stream`(packet: ControlPacket) {
    var client = makeInitiator()
    receive(packet, on: &client)
    expectEnd(&client, .protocolViolation, Goodbye(.protocolViolation))
  }

  @Test func `a join names another connection, and its version is checked`() {
    var host = makeResponder()
    receive(.join(version: 2, Self.key), on: &host)
    #expect(pollEvents(&host) == [.joining])
    #expect(host.key == Self.key)
    host = makeResponder()
    receive(.join(version: 3, Self.key), on: &host)
    expectEnd(&host, .versionMismatch(theirs: 3), Goodbye(.versionMismatch, version: 2))
  }

  @Test func `a request or grant of another version ends with code 6 and version 2`() {
    var host = makeResponder()
    receive(.request(version: 1, Self.key, makePeer(2)), on: &host)
    expectEnd(&host, .versionMismatch(theirs: 1), Goodbye(.versionMismatch, version: 2))
    var client = makeInitiator()
    receive(.grant(version: 3, makePeer(1)), on: &client)
    expectEnd(&client, .versionMismatch(theirs: 3), Goodbye(.versionMismatch, version: 2))
  }

  @Test func `another version of the messages is refused with the responder's version of them`() {
    var local = makePeer(1)
    local.applicationVersion = 7
    var host = Connection.respondingOnStream(as: LocalSide(local), at: now)
    var info = makePeer(2)
    info.applicationVersion = 5
    receive(.request(version: 2, Self.key, info), on: &host)
    let goodbye = Goodbye(.versionMismatch, version: 7)
    expectEnd(&host, .versionMismatch(theirs: 5), goodbye)
    var client = makeInitiator()
    receive(.goodbye(goodbye), on: &client)
    #expect(pollEvents(&client) == [.closed(.versionMismatch(theirs: 7))])
    #expect(nextLinkAction(&client) == .closeAfterFlush)
  }

  @Test func `a request over datagrams has the key of its hello`() {
    for (key, isRefused) in [(Self.key, false), (Self.otherKey, true), (.none, true)] {
      var host = Connection.responding(
        to: Hello(key: Self.key, epoch: 1, resumes: false, cookie: nil),
        from: DatagramPair.clientRoute, as: LocalSide(makePeer(1)), at: now)
      let request = ControlPacket.request(version: 2, key, makePeer(2))
      host.receive(request, on: .datagram, at: now)
      #expect(
        pollEvents(&host) == [isRefused ? .closed(.protocolViolation) : .requested(makePeer(2))])
    }
  }

  @Test(
    arguments: [
      (.left, .left), (.finished, .finished), (.replaced, .replaced), (.full, .full),
      (.busy, .busy), (.declined, .declined("why")),
      (.versionMismatch, .versionMismatch(theirs: 2)),
      (.wrongApplication, .wrongApplication), (.protocolViolation, .protocolViolation),
      (.timedOut, .timedOut), (.kicked, .kicked("why")), (.forgotten, .connectionReset),
      (.tooSlow, .tooSlow), (.tokenUsed, .tokenRefused(.used)),
      (.tokenExpired, .tokenRefused(.expired)), (.tokenForOtherHost, .tokenRefused(.otherHost)),
      (.tokenBeforeStart, .tokenRefused(.madeBeforeStart)),
      (.tokenNotYetValid, .tokenRefused(.notYetValid)),
      (.tokenInvalid, .tokenRefused(.notAuthentic)), (.moved, .moved(to: NextHost())),
    ] as [(Goodbye.Code, DisconnectReason)])
  func `each goodbye is reported as its reason, also before the grant`(
    code: Goodbye.Code, reason: DisconnectReason
  ) {
    for isOpen in [false, true] {
      var client = makeInitiator()
      if isOpen { receive(.grant(version: 2, makePeer(1)), on: &client) }
      _ = pollEvents(&client)
      receive(.goodbye(Goodbye(code, text: "why")), on: &client)
      #expect(pollEvents(&client) == [.closed(reason)])
      #expect(nextLinkAction(&client) == .closeAfterFlush)
      #expect(client.isClosed)
    }
  }

  @Test func `each part of the handshake may take 10 s, and not longer`() {
    var client = makeInitiator()
    #expect(client.nextTimeout == now + .seconds(10))
    client.handleTimeout(at: now + .seconds(10) + .nanoseconds(-1))
    #expect(!client.isEnding)
    client.handleTimeout(at: now + .seconds(10))
    expectEnd(&client, .handshakeTimeout, Goodbye(.timedOut))

    var host = makeResponder()
    #expect(host.nextTimeout == now + .seconds(10))
    let request = ControlPacket.request(version: 2, Self.key, makePeer(2)).packet.framed()
    host.receive(request.span, at: now + .seconds(9))
    #expect(host.nextTimeout == now + .seconds(19), "the owner has 10 s to answer the request")
    host.handleTimeout(at: now + .seconds(19) + .nanoseconds(-1))
    #expect(pollEvents(&host) == [.requested(makePeer(2))])
    host.handleTimeout(at: now + .seconds(19))
    expectEnd(&host, .handshakeTimeout, Goodbye(.timedOut))
  }

  @Test func `the session packets after a goodbye are ignored`() {
    var client = makeInitiator()
    let bytes =
      ControlPacket.goodbye(Goodbye(.full)).packet.framed()
      + ControlPacket.grant(version: 2, makePeer(1)).packet.framed()
      + ControlPacket.goodbye(Goodbye(.left)).packet.framed()
    client.receive(bytes.span, at: now)
    #expect(pollEvents(&client) == [.closed(.full)])
  }

  @Test func `a connection on a stream reports what it has sent and received`() throws {
    var pair = ConnectionPair.opened()
    try pair.client.send([1, 2, 3], on: 3, at: pair.now)
    try pair.client.send([4], on: 1, .unreliable, at: pair.now)
    var sender = pair.client.peerStatistics
    #expect(sender.bytesQueued == 3 + 64)
    #expect(sender.channels.map(\.messagesQueued) == [1, 1])
    pair.exchange()
    pair.run(for: .milliseconds(60))
    sender = pair.client.peerStatistics
    let receiver = pair.host.peerStatistics
    #expect(sender.link == .stream && sender.roundTrip == .zero && sender.clockOffset == .zero)
    #expect(sender.bytesQueued == 0 && sender.packetsSent == 0 && sender.packetSize == 0)
    #expect(sender.messagesSent == 2 && sender.messagesReceived == 0)
    #expect(receiver.messagesReceived == 2 && receiver.messagesSent == 0)
    #expect(
      sender.channels.map(\.channel) == [1, 3] && receiver.channels.map(\.channel) == [1, 3])
    #expect(sender.channels.map(\.bytesSent) == [1, 3])
    #expect(sender.channels.map(\.messagesSent) == [1, 1])
    #expect(sender.channels.map(\.messagesQueued) == [0, 0])
    #expect(receiver.channels.map(\.bytesReceived) == [1, 3])
    #expect(receiver.channels.map(\.messagesReceived) == [1, 1])
  }
}
