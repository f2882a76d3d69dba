import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct ConnectionTests {
  @Test func `a request and its grant open each side exactly once`() {
    let pair = ConnectionPair.opened()
    #expect(pair.hostEvents.withoutMeasurements == [.requested(makePeer(2)), .opened(makePeer(2))])
    #expect(pair.clientEvents.withoutMeasurements == [.opened(makePeer(1))])
  }

  @Test func `the round trip is measured as soon as both are open`() {
    let pair = ConnectionPair.opened()
    #expect(pair.host.roundTrip.latest == .zero)
    #expect(pair.client.roundTrip.clockOffset == .zero)
  }

  @Test func `the way the stream is split into chunks does not matter`() throws {
    var whole = ConnectionPair.opened()
    var bytewise = ConnectionPair.opened(chunk: 1)
    for index in 0..<20 {
      let message = [UInt8](repeating: UInt8(index), count: index * 7)
      for _ in 0..<2 {
        try whole.host.send(message, on: 3, at: whole.now)
        try bytewise.host.send(message, on: 3, at: bytewise.now)
      }
    }
    whole.exchange()
    bytewise.exchange()
    #expect(whole.clientMessages.count == 40)
    #expect(whole.clientMessages == bytewise.clientMessages)
  }

  @Test func `a repeated request is harmless`() throws {
    var pair = ConnectionPair()
    let request = ControlPacket.request(version: SessionWire.version, .none, makePeer(2)).packet
      .framed()
    pair.host.receive(request.span, at: pair.now)
    pair.host.receive(request.span, at: pair.now)
    pair.host.admit(at: pair.now)
    pair.host.receive(request.span, at: pair.now)
    pair.exchange()
    let openings = pair.hostEvents.count { if case .opened = $0 { true } else { false } }
    #expect(openings == 1)
    #expect(pair.host.isOpen)
  }

  @Test func `a peer that sends pings but never reads gets a bounded number of answers`() {
    var pair = ConnectionPair.opened()
    let pings = Array(repeating: ControlPacket.ping(sent: 1).packet.framed(), count: 1_000)
      .flatMap { $0 }
    for _ in 0..<60 { pair.host.receive(pings.span, at: pair.now) }
    #expect(pair.host.isOpen)
    #expect(pair.host.queuedBytes <= StreamPath.controlLimit + 28)
  }

  @Test func `frames are limited to a smaller size before the handshake than after it`() throws {
    var pair = ConnectionPair()
    let header = UInt64(Connection.handshakeFrameLimit + 1)
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: header >> (8 * $0)) }
    pair.host.receive(bytes.span, at: pair.now)
    #expect(nextEvent(&pair.host) == .closed(.protocolViolation))
    var seated = ConnectionPair.opened()
    let message = [UInt8](repeating: 7, count: MessageFrame.maximumMessage)
    try seated.client.send(message, on: 0, at: seated.now)
    seated.exchange()
    #expect(seated.hostMessages.map(\.count) == [MessageFrame.maximumMessage])
  }

  @Test func `a first packet other than a request closes the connection`() {
    var pair = ConnectionPair()
    let bytes = Packet(type: SessionWire.carrierType, action: 0, payload: [1]).framed()
    pair.host.receive(bytes.span, at: pair.now)
    #expect(nextEvent(&pair.host) == .closed(.protocolViolation))
    #expect(nextEvent(&pair.host) == nil)
  }

  @Test func `a peer with another version is refused, and both sides report the other's version`() {
    var pair = ConnectionPair()
    let request = ControlPacket.request(version: 9, .none, makePeer(2)).packet.framed()
    pair.host.receive(request.span, at: pair.now)
    #expect(nextEvent(&pair.host) == .closed(.versionMismatch(theirs: 9)))
    pair.exchange()
    #expect(pair.clientEvents.endings == [.versionMismatch(theirs: SessionWire.version)])
  }

  @Test func `a peer with another game is refused`() {
    var other = makePeer(2)
    other.application = "chess"
    var pair = ConnectionPair(client: other)
    pair.exchange()
    #expect(pair.hostEvents.endings == [.wrongApplication])
    #expect(pair.clientEvents.endings == [.wrongApplication])
  }

  @Test func `a peer cannot connect to itself`() {
    var pair = ConnectionPair(host: makePeer(1), client: makePeer(1))
    pair.exchange()
    #expect(pair.clientEvents.endings == [.wrongApplication])
  }

  @Test func `a link without a request is closed after the handshake limit`() {
    var pair = ConnectionPair()
    pair.isCut = true
    pair.run(for: .seconds(9.9))
    #expect(pair.hostEvents.isEmpty && pair.clientEvents.isEmpty)
    pair.run(for: .seconds(0.2))
    #expect(pair.hostEvents.endings == [.handshakeTimeout])
    #expect(pair.clientEvents.endings == [.handshakeTimeout])
  }

  @Test func `the owner may take longer to admit a peer than the silence limit`() {
    var pair = ConnectionPair()
    pair.exchange()
    pair.run(for: .seconds(9))
    pair.host.admit(at: pair.now)
    pair.exchange()
    #expect(pair.host.isOpen && pair.client.isOpen)
  }

  @Test func `an unanswered request ends on both sides after the handshake limit`() {
    var pair = ConnectionPair()
    pair.exchange()
    pair.run(for: .seconds(11))
    #expect(pair.hostEvents.endings.count == 1)
    #expect(pair.clientEvents.endings == [.handshakeTimeout])
  }

  @Test func `a token that overtakes the grant is not a violation`() {
    var pair = ConnectionPair()
    pair.exchange()
    let secret = HostSecret(low: 1, high: 2)
    let token = AddressToken(serial: 1, for: .v4(0x0A00_0002), secret: secret, at: pair.now)
    pair.client.receive(.token(token), on: .datagram, at: pair.now)
    pair.host.admit(at: pair.now)
    pair.exchange()
    #expect(pair.client.isOpen && pair.host.isOpen)
    #expect(pair.clientEvents.endings.isEmpty)
  }

  @Test func `a peer that stops in the middle of a packet has timed out`() {
    var pair = ConnectionPair.opened()
    pair.client.receive([64, 0, 0, 0, 0, 0, 0, 0, 1].span, at: pair.now)
    pair.now = pair.now.advanced(by: .seconds(31))
    pair.client.receive([1].span, at: pair.now)
    pair.exchange()
    #expect(pair.clientEvents.endings == [.timedOut])
  }

  @Test func `silence ends an open connection within five seconds, once`() {
    var pair = ConnectionPair.opened()
    pair.run(for: .seconds(60))
    #expect(pair.host.isOpen && pair.client.isOpen)
    pair.isCut = true
    pair.run(for: .seconds(5))
    #expect(pair.hostEvents.endings == [.timedOut])
    #expect(pair.clientEvents.endings == [.timedOut])
  }

  @Test(arguments: [
    (LinkEnd.ended, DisconnectReason.connectionLost), (.reset, .connectionReset),
    (.timedOut, .timedOut),
  ])
  func `the end of the stream is reported once, with its reason`(
    end: LinkEnd, reason: DisconnectReason
  ) {
    var pair = ConnectionPair.opened()
    pair.client.handleLinkEnd(end, at: pair.now)
    pair.client.handleLinkEnd(end, at: pair.now)
    pair.run(for: .seconds(20))
    #expect(pair.clientEvents.endings == [reason])
  }

  @Test func `a goodbye arrives after all messages sent before it`() throws {
    var pair = ConnectionPair.opened()
    try pair.host.send([1], on: 0, at: pair.now)
    try pair.host.send([2], on: 0, at: pair.now)
    pair.host.close(Goodbye(.finished), as: .finished, at: pair.now)
    pair.exchange()
    #expect(pair.clientMessages == [[1], [2]])
    #expect(pair.clientEvents.endings == [.finished])
    #expect(pair.hostEvents.endings == [.finished])
    #expect(nextLinkAction(&pair.host) == .closeAfterFlush)
    #expect(nextLinkAction(&pair.client) == .closeAfterFlush)
  }

  @Test func `a stream whose goodbye cannot be sent is cut`() {
    var pair = ConnectionPair.opened()
    pair.host.close(Goodbye(.left), at: pair.now)
    pair.host.handleTimeout(at: pair.now + SessionTiming().closeLimit)
    #expect(nextLinkAction(&pair.host) == .cut)
    #expect(pair.host.nextTimeout == nil)
  }

  @Test func `messages can be sent only while the connection is open`() {
    var pair = ConnectionPair()
    #expect(throws: SendError.notConnected) { try pair.client.send([1], on: 0, at: pair.now) }
    pair = .opened()
    pair.client.close(Goodbye(.left), at: pair.now)
    #expect(throws: SendError.notConnected) {
      try pair.client.send([1], on: 0, .unreliableSequenced, at: pair.now)
    }
  }
}

@Suite struct ConnectionQueueTests {
  @Test func `a newer state replaces one that has not been sent`() throws {
    var pair = ConnectionPair.opened()
    for number: UInt8 in 1...9 {
      try pair.host.send([number], on: 5, .unreliableSequenced, at: pair.now)
    }
    try pair.host.send([77], on: 6, .unreliableSequenced, at: pair.now)
    pair.exchange()
    #expect(pair.clientMessages == [[9], [77]])
  }

  @Test func `states are held back while the stream is full, reliable messages are not`() throws {
    var pair = ConnectionPair.opened()
    try pair.host.send([1], on: 5, .unreliableSequenced, at: pair.now)
    try pair.host.send([2], on: 0, at: pair.now)
    let sent = pair.host.pollStream(queued: StreamPath.latestThreshold, at: pair.now) ?? []
    pair.client.receive(sent.span, at: pair.now)
    pair.exchange()
    #expect(pair.clientMessages == [[2], [1]])
  }

  @Test func `the send queue is bounded and reports when it has space again`() throws {
    var pair = ConnectionPair.opened()
    let message = [UInt8](repeating: 7, count: 100_000)
    var accepted = 0
    while pair.hostAccepts(message) { accepted += 1 }
    #expect(accepted == ChannelLimits.sendBytes / (100_000 + ChannelLimits.messageCharge))
    pair.exchange()
    #expect(pair.clientMessages.count == accepted)
    #expect(pair.hostEvents.contains(.channel(.writable)))
    try pair.host.send(message, on: 0, at: pair.now)
  }

  @Test func `a message over the limit is rejected with its size`() {
    var pair = ConnectionPair.opened()
    let limit = MessageFrame.maximumMessage
    #expect(throws: SendError.tooLarge(size: limit + 1, limit: limit)) {
      try pair.host.send([UInt8](repeating: 0, count: limit + 1), on: 0, at: pair.now)
    }
  }

  @Test func `unknown packets are counted and ignored`() {
    var pair = ConnectionPair.opened()
    pair.client.receive(Packet(type: 99, action: 1, payload: [1]).framed().span, at: pair.now)
    pair.client.receive(Packet(type: 1, action: 99, payload: []).framed().span, at: pair.now)
    #expect(pair.client.unknownPackets == 2)
    #expect(pair.client.isOpen)
  }

  @Test func `a huge frame length closes the connection`() {
    var pair = ConnectionPair.opened()
    pair.client.receive([0, 0, 0, 0, 1, 0, 0, 0].span, at: pair.now)
    pair.exchange()
    #expect(pair.clientEvents.endings == [.protocolViolation])
    #expect(pair.hostEvents.endings == [.protocolViolation])
  }
}
