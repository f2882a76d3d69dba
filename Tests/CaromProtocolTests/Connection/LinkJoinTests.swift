import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// Tests how a host assigns links to connections, with handwritten packets.
@Suite struct LinkJoinTests {
  private let now = Instant(nanoseconds: 1_000_000_000)
  private let key = ConnectionKey(prefix: 1, rest: 2)
  private let initiatorRoute = Route(Endpoint(.loopback4, port: 1_000), socket: 0)

  private func encode(_ hello: Hello) -> [UInt8] {
    var writer = FrameWriter(limit: Hello.paddedLength)
    hello.write(to: &writer)
    return writer.takeBytes()
  }

  /// Sends a hello, and again with the cookie of the answer.
  private func sendHello(
    to host: inout Host, version: UInt16 = Hello.version, resumes: Bool = false
  ) throws {
    var hello = Hello(version: version, key: key, epoch: 1, resumes: resumes, cookie: nil)
    host.receiveDatagram(encode(hello).span, from: initiatorRoute, at: now)
    let reply = host.pollStatelessReply()
    let answer = try #require(reply)
    var reader = PacketReader(answer.bytes.span)
    guard case .retry(let retry) = try SessionDatagram(decoding: &reader) else {
      Issue.record("a retry answers a hello without a cookie")
      return
    }
    hello.cookie = retry.cookie
    host.receiveDatagram(encode(hello).span, from: initiatorRoute, at: now)
  }

  @Test(arguments: [(100, 1_100), (3_000, 6_000), (9_000, 10_000)])
  func `when a stream fails, datagrams get as long again and at least a second`(
    failed: Int, ends: Int
  ) {
    var connection = Connection.initiating(
      as: LocalSide(makePeer(1)), key: key, at: now)
    connection.handleStreamFailed(at: now + .milliseconds(failed))
    connection.handleTimeout(at: now + .milliseconds(ends - 1))
    #expect(!connection.isEnding)
    connection.handleTimeout(at: now + .milliseconds(ends))
    #expect(connection.isEnding)
  }

  @Test func `an answer to a stranger has at most three tenths of the bytes received`() throws {
    var host = Host(makePeer(1), seats: 1)
    let madeUp = Cookie(bits: 5)
    for cookie in [nil, madeUp] {
      let hello = encode(Hello(key: key, epoch: 1, resumes: false, cookie: cookie))
      for sent in [hello, [0x10] + [UInt8](repeating: 0, count: 29)] {
        host.receiveDatagram(sent.span, from: initiatorRoute, at: now)
        let answer = host.pollStatelessReply()
        #expect(try #require(answer).bytes.count * 10 <= sent.count * 3)
        let more = host.pollStatelessReply()
        #expect(more?.bytes == nil)
      }
    }
    #expect(host.connectionIDs.isEmpty)
  }

  @Test func `a request on the stream is accepted before the one sent as a datagram`() throws {
    var host = Host(makePeer(1), seats: 1)
    try sendHello(to: &host)
    let silence = host.pollEvent()
    #expect(silence == nil)
    let path = try #require(host.connectionIDs.first)
    let link = host.makeConnectionID()
    _ = host.accept(link, at: now)
    let request = ControlPacket.request(version: SessionWire.version, key, makePeer(2))
    host.receive(request.packet.framed().span, on: link, at: now)
    let events = [host.pollEvent(), host.pollEvent()]
    #expect(events == [.adopted(link, by: path), .requested(path, makePeer(2), replacing: nil)])
    host.admit(path, at: now)
    let sent = host.pollTransmit(on: path, queued: 0, at: now)
    let grant = ControlPacket.grant(version: SessionWire.version, makePeer(1)).packet.framed()
    #expect(sent?.starts(with: grant) == true)
  }

  /// A host that has granted an initiator a seat over datagrams.
  private func seated() throws -> (Host, path: ConnectionID) {
    var host = Host(makePeer(1), seats: 2)
    try sendHello(to: &host)
    let path = try #require(host.connectionIDs.first)
    let request = ControlPacket.request(version: SessionWire.version, key, makePeer(2))
    let link = send(request, to: &host)
    host.admit(path, at: now)
    host.handleLinkEnd(.ended, of: link, at: now)
    while host.pollEvent() != nil {}
    return (host, path)
  }

  /// Sends a control packet on a new stream.
  private func send(_ packet: ControlPacket, to host: inout Host) -> ConnectionID {
    let link = host.makeConnectionID()
    _ = host.accept(link, at: now)
    host.receive(packet.packet.framed().span, on: link, at: now)
    return link
  }

  @Test func `a stream joins an open connection`() throws {
    var (host, path) = try seated()
    let link = send(.join(version: SessionWire.version, key), to: &host)
    let event = host.pollEvent()
    #expect(event == .adopted(link, by: path))
    let sent = host.pollTransmit(on: path, queued: 0, at: now)
    let grant = ControlPacket.grant(version: SessionWire.version, makePeer(1)).packet.framed()
    #expect(sent?.starts(with: grant) == true)
  }

  @Test(arguments: [
    ControlPacket.join(version: SessionWire.version, ConnectionKey(prefix: 1, rest: 2)),
    .request(version: SessionWire.version, ConnectionKey(prefix: 1, rest: 2), makePeer(2)),
  ])
  func `a stream of an ended connection is refused`(packet: ControlPacket) throws {
    var (host, path) = try seated()
    host.close(path, Goodbye(.busy), at: now)
    // The goodbye waits until the grant is acknowledged, but not until the connection must end.
    let phases: [(after: Duration, answer: Goodbye?)] = [
      (.zero, nil), (.milliseconds(900), Goodbye(.busy)), (.seconds(5), Goodbye(.forgotten)),
    ]
    for (after, answer) in phases {
      for pass in 0..<2 { host.handleTimeout(at: now + after + .milliseconds(50 * pass)) }
      if answer?.code == .forgotten { host.didFlush(path, at: now + after) }
      while host.pollEvent() != nil {}
      let link = send(packet, to: &host)
      let event = host.pollEvent()
      #expect(event == .closed(link, nil, .connectionLost, wasOpen: false))
      let sent = host.pollTransmit(on: link, queued: 0, at: now)
      #expect(sent == answer.map { ControlPacket.goodbye($0).packet.framed() })
      host.handleLinkEnd(.ended, of: link, at: now)
    }
    #expect(host.index(of: path) == nil)
  }

  @Test(arguments: [true, false])
  func `a request that was declined or withdrawn on one link is not reported again on another`(
    isDeclined: Bool
  ) throws {
    var host = Host(makePeer(1), seats: 1)
    let request = ControlPacket.request(version: SessionWire.version, key, makePeer(2))
    let first = send(request, to: &host)
    let event = host.pollEvent()
    #expect(event == .requested(first, makePeer(2), replacing: nil))
    let answer = isDeclined ? Goodbye(.declined, text: "no") : Goodbye(.forgotten)
    if isDeclined {
      host.close(first, answer, at: now)
      while host.pollEvent() != nil {}
      // The first link has not delivered the answer yet.
      let second = send(request, to: &host)
      let event = host.pollEvent()
      #expect(event == .closed(second, nil, .connectionLost, wasOpen: false))
      let sent = host.pollTransmit(on: second, queued: 0, at: now)
      #expect(sent == ControlPacket.goodbye(answer).packet.framed())
    } else {
      let goodbye = ControlPacket.goodbye(Goodbye(.left))
      host.receive(goodbye.packet.framed().span, on: first, at: now)
    }
    host.handleLinkEnd(.ended, of: first, at: now)
    host.didFlush(first, at: now)
    while host.pollEvent() != nil {}
    #expect(host.index(of: first) == nil)
    let late = send(request, to: &host)
    let closed = host.pollEvent()
    #expect(closed == .closed(late, nil, .connectionLost, wasOpen: false))
    let sent = host.pollTransmit(on: late, queued: 0, at: now)
    #expect(sent == ControlPacket.goodbye(Goodbye(.forgotten)).packet.framed())
    try sendHello(to: &host)
    let refusal = host.pollStatelessReply()
    #expect(refusal != nil && host.freeSeats == 1)
  }

  @Test func `a client whose datagrams are refused waits for the answer to its stream's request`() {
    var initiator = Host(makePeer(2), seats: 0)
    let link = initiator.makeConnectionID()
    initiator.connect(link, to: [initiatorRoute], key: key, at: now)
    initiator.handleStreamConnected(link, key: key, at: now)
    var writer = FrameWriter(limit: 100)
    let reason = Goodbye.Code.forgotten.rawValue
    Refusal(keyPrefix: key.prefix, reason: reason).write(to: &writer)
    initiator.receiveDatagram(writer.span, from: initiatorRoute, at: now)
    let none = initiator.pollEvent()
    #expect(none == nil)
    let answer = ControlPacket.goodbye(Goodbye(.declined, text: "no")).packet.framed()
    initiator.receive(answer.span, on: link, at: now)
    let event = initiator.pollEvent()
    #expect(event == .closed(link, nil, .declined("no"), wasOpen: false))
  }

  @Test(arguments: [(1, false, Goodbye.Code.versionMismatch), (2, true, .forgotten)])
  func `a refused hello is answered with the reason`(
    version: UInt16, resumes: Bool, code: Goodbye.Code
  ) throws {
    var host = Host(makePeer(1), seats: 1)
    try sendHello(to: &host, version: version, resumes: resumes)
    let reply = host.pollStatelessReply()
    let answer = try #require(reply)
    var reader = PacketReader(answer.bytes.span)
    let refusal = try SessionDatagram(decoding: &reader)
    #expect(refusal == .refusal(Refusal(keyPrefix: key.prefix, reason: code.rawValue)))
    #expect(host.connectionIDs.isEmpty)
  }

  @Test func `the connection continues on the stream when datagrams are refused`() throws {
    var initiator = Host(makePeer(2), seats: 0, timing: .withoutResuming)
    let link = initiator.makeConnectionID()
    initiator.connect(link, to: [initiatorRoute], key: key, at: now)
    initiator.handleStreamConnected(link, key: key, at: now)
    let grant = ControlPacket.grant(version: SessionWire.version, makePeer(1)).packet.framed()
    initiator.receive(grant.span, on: link, at: now)
    var writer = FrameWriter(limit: 100)
    let reason = Goodbye.Code.forgotten.rawValue
    Refusal(keyPrefix: key.prefix, reason: reason).write(to: &writer)
    initiator.receiveDatagram(writer.span, from: initiatorRoute, at: now)
    #expect(initiator.isOpen(link) && initiator.kind(of: link) == .stream)
    initiator.handleLinkEnd(.ended, of: link, at: now)
    #expect(!initiator.isOpen(link))
  }

  @Test func `a carrier with an action is a violation`() throws {
    var initiator = Host(makePeer(2), seats: 0)
    let link = initiator.makeConnectionID()
    initiator.handleStreamConnected(link, key: key, at: now)
    let grant = ControlPacket.grant(version: SessionWire.version, makePeer(1)).packet.framed()
    initiator.receive(grant.span, on: link, at: now)
    let carrier = Packet(type: SessionWire.carrierType, action: 1, payload: [1]).framed()
    initiator.receive(carrier.span, on: link, at: now)
    var ends: [DisconnectReason] = []
    while let event = initiator.pollEvent() {
      if case .closed(_, _, let reason, _) = event { ends.append(reason) }
    }
    #expect(ends == [.protocolViolation])
  }

  @Test func `a stream that opens after the refusal is not used`() throws {
    var host = Host(makePeer(1), seats: 0)
    var initiator = Host(makePeer(2), seats: 0)
    let link = initiator.makeConnectionID()
    let route = Route(Endpoint(.loopback4, port: 7777))
    initiator.connect(link, to: [route], key: key, at: now)
    for _ in 0..<8 {
      while let ready = initiator.pollReady() {
        var datagram: [UInt8] = []
        while initiator.pollDatagram(on: ready, into: &datagram, at: now) != nil {
          host.receiveDatagram(datagram.span, from: initiatorRoute, at: now)
          datagram = []
        }
      }
      while let answer = host.pollStatelessReply() {
        initiator.receiveDatagram(answer.bytes.span, from: route, at: now)
      }
      while let ready = host.pollReady() {
        var datagram: [UInt8] = []
        while host.pollDatagram(on: ready, into: &datagram, at: now) != nil {
          initiator.receiveDatagram(datagram.span, from: route, at: now)
          datagram = []
        }
      }
    }
    let event = initiator.pollEvent()
    #expect(event == .closed(link, nil, .full, wasOpen: false))
    let isUsed = initiator.handleStreamConnected(link, key: key, at: now)
    #expect(!isUsed)
  }

  @Test func `an acknowledgement that does not fit a full stream waits without a timer`() throws {
    var path = StreamPath(limit: 4_096)
    var channels = ChannelSet()
    path.join()
    path.didReceive(bytes: 10, isAckEliciting: true, at: now)
    let later = now + .milliseconds(50)
    #expect(path.nextTimeout == later)
    try path.handleTimeout(at: later)
    var scratch = Scratch()
    let full = SessionLink.writeLength
    let fits = path.pollTransmit(
      queued: full, &channels, carriesMessages: true, &scratch, at: later)
    #expect(!fits && path.isAcknowledgementDue && path.nextTimeout == nil)
    let leaves = path.pollTransmit(
      queued: 0, &channels, carriesMessages: true, &scratch, at: later)
    #expect(leaves && !path.isAcknowledgementDue)
  }

  @Test func `a peer that acknowledges no carriers gets a bounded number of them`() throws {
    var path = StreamPath(limit: 4_096)
    var channels = ChannelSet()
    path.join()
    var scratch = Scratch()
    var sent = 0
    for _ in 0..<StreamPath.mostUnacknowledged + 100 {
      _ = try channels.send([1].span, on: 0, SendOptions(.unreliable), at: now)
      let leaves = path.pollTransmit(
        queued: 0, &channels, carriesMessages: true, &scratch, at: now)
      if leaves { sent += 1 }
    }
    #expect(sent == StreamPath.mostUnacknowledged)
  }
}
