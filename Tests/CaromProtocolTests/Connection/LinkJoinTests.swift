import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// Links that come to a host one after the other, by their bytes.
@Suite struct LinkJoinTests {
  private let now = Instant(nanoseconds: 1_000_000_000)
  private let key = ConnectionKey(prefix: 1, rest: 2)
  private let caller = Route(Endpoint(.loopback4, port: 1_000), socket: 0)

  private func encode(_ hello: Hello) -> [UInt8] {
    var writer = FrameWriter(limit: Hello.paddedLength)
    hello.write(to: &writer)
    return writer.takeBytes()
  }

  /// Says hello, and says it again with the cookie that came back.
  private func sayHello(
    to host: inout Host, version: UInt16 = Hello.version, resumes: Bool = false
  ) throws {
    var hello = Hello(version: version, key: key, epoch: 1, resumes: resumes, cookie: nil)
    host.receiveDatagram(encode(hello).span, from: caller, at: now)
    let said = host.pollStatelessReply()
    let answer = try #require(said)
    var reader = PacketReader(answer.bytes.span)
    guard case .retry(let retry) = try SessionDatagram(decoding: &reader) else {
      Issue.record("a retry answers a hello without a cookie")
      return
    }
    hello.cookie = retry.cookie
    host.receiveDatagram(encode(hello).span, from: caller, at: now)
  }

  @Test(arguments: [(100, 1_100), (3_000, 6_000), (9_000, 10_000)])
  func `when a stream fails datagrams have as long again, and a second at least`(
    failed: Int, ends: Int
  ) {
    var connection = Connection.calling(
      as: makePeer(1), timing: SessionTiming(), key: key, at: now)
    connection.handleStreamFailed(at: now + .milliseconds(failed))
    connection.handleTimeout(at: now + .milliseconds(ends - 1))
    #expect(!connection.isEnding)
    connection.handleTimeout(at: now + .milliseconds(ends))
    #expect(connection.isEnding)
  }

  @Test func `a stranger gets back at most three tenths of what it sent`() throws {
    var host = Host(makePeer(1), seats: 1)
    let madeUp = Cookie(bits: 5)
    for cookie in [nil, madeUp] {
      let hello = encode(Hello(key: key, epoch: 1, resumes: false, cookie: cookie))
      for said in [hello, [0x10] + [UInt8](repeating: 0, count: 29)] {
        host.receiveDatagram(said.span, from: caller, at: now)
        let answer = host.pollStatelessReply()
        #expect(try #require(answer).bytes.count * 10 <= said.count * 3)
        let more = host.pollStatelessReply()
        #expect(more?.bytes == nil)
      }
    }
    #expect(host.connectionIDs.isEmpty)
  }

  @Test func `a request on a stream counts while that of the datagrams is late`() throws {
    var host = Host(makePeer(1), seats: 1)
    try sayHello(to: &host)
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

  /// A host of which a caller got a seat over datagrams.
  private func seated() throws -> (Host, path: ConnectionID) {
    var host = Host(makePeer(1), seats: 2)
    try sayHello(to: &host)
    let path = try #require(host.connectionIDs.first)
    let request = ControlPacket.request(version: SessionWire.version, key, makePeer(2))
    let link = say(request, to: &host)
    host.admit(path, at: now)
    host.handleLinkEnd(.ended, of: link, at: now)
    while host.pollEvent() != nil {}
    return (host, path)
  }

  /// Says it on a stream of its own.
  private func say(_ packet: ControlPacket, to host: inout Host) -> ConnectionID {
    let link = host.makeConnectionID()
    _ = host.accept(link, at: now)
    host.receive(packet.packet.framed().span, on: link, at: now)
    return link
  }

  @Test func `a stream joins the connection that is open`() throws {
    var (host, path) = try seated()
    let link = say(.join(version: SessionWire.version, key), to: &host)
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
  func `a stream of a connection that has ended finds nobody`(packet: ControlPacket) throws {
    var (host, path) = try seated()
    host.close(path, Goodbye(.left), at: now)
    let later = now + .seconds(5)
    for ended in [false, true] {
      if ended {
        for pass in 0..<2 { host.handleTimeout(at: later + .milliseconds(50 * pass)) }
        host.didFlush(path, at: later)
      }
      while host.pollEvent() != nil {}
      let link = say(packet, to: &host)
      let event = host.pollEvent()
      #expect(event == .closed(link, nil, .connectionLost, wasOpen: false))
      let sent = host.pollTransmit(on: link, queued: 0, at: now)
      #expect(sent == ControlPacket.goodbye(Goodbye(.forgotten)).packet.framed())
      host.handleLinkEnd(.ended, of: link, at: now)
    }
    #expect(host.index(of: path) == nil)
  }

  @Test(arguments: [(1, false, Goodbye.Code.versionMismatch), (2, true, .forgotten)])
  func `a hello that finds nothing is told why`(
    version: UInt16, resumes: Bool, code: Goodbye.Code
  ) throws {
    var host = Host(makePeer(1), seats: 1)
    try sayHello(to: &host, version: version, resumes: resumes)
    let said = host.pollStatelessReply()
    let answer = try #require(said)
    var reader = PacketReader(answer.bytes.span)
    let refusal = try SessionDatagram(decoding: &reader)
    #expect(refusal == .refusal(Refusal(keyPrefix: key.prefix, reason: code.rawValue)))
    #expect(host.connectionIDs.isEmpty)
  }

  @Test func `a stream goes on where nobody knows the datagrams`() throws {
    var caller = Host(makePeer(2), seats: 0)
    let link = caller.makeConnectionID()
    caller.connect(link, to: [self.caller], key: key, at: now)
    caller.handleStreamConnected(link, key: key, at: now)
    let grant = ControlPacket.grant(version: SessionWire.version, makePeer(1)).packet.framed()
    caller.receive(grant.span, on: link, at: now)
    var writer = FrameWriter(limit: 100)
    let reason = Goodbye.Code.forgotten.rawValue
    Refusal(keyPrefix: key.prefix, reason: reason).write(to: &writer)
    caller.receiveDatagram(writer.span, from: self.caller, at: now)
    #expect(caller.isOpen(link) && caller.kind(of: link) == .stream)
    caller.handleLinkEnd(.ended, of: link, at: now)
    #expect(!caller.isOpen(link))
  }

  @Test func `a carrier has no action`() throws {
    var caller = Host(makePeer(2), seats: 0)
    let link = caller.makeConnectionID()
    caller.handleStreamConnected(link, key: key, at: now)
    let grant = ControlPacket.grant(version: SessionWire.version, makePeer(1)).packet.framed()
    caller.receive(grant.span, on: link, at: now)
    let carrier = Packet(type: SessionWire.carrierType, action: 1, payload: [1]).framed()
    caller.receive(carrier.span, on: link, at: now)
    var ends: [DisconnectReason] = []
    while let event = caller.pollEvent() {
      if case .closed(_, _, let reason, _) = event { ends.append(reason) }
    }
    #expect(ends == [.protocolViolation])
  }

  @Test func `a stream that opens behind the refusal is not wanted`() throws {
    var host = Host(makePeer(1), seats: 0)
    var caller = Host(makePeer(2), seats: 0)
    let link = caller.makeConnectionID()
    let way = Route(Endpoint(.loopback4, port: 7777))
    caller.connect(link, to: [way], key: key, at: now)
    for _ in 0..<8 {
      while let ready = caller.pollReady() {
        var datagram: [UInt8] = []
        while caller.pollDatagram(on: ready, into: &datagram, at: now) != nil {
          host.receiveDatagram(datagram.span, from: self.caller, at: now)
          datagram = []
        }
      }
      while let answer = host.pollStatelessReply() {
        caller.receiveDatagram(answer.bytes.span, from: way, at: now)
      }
      while let ready = host.pollReady() {
        var datagram: [UInt8] = []
        while host.pollDatagram(on: ready, into: &datagram, at: now) != nil {
          caller.receiveDatagram(datagram.span, from: way, at: now)
          datagram = []
        }
      }
    }
    let event = caller.pollEvent()
    #expect(event == .closed(link, nil, .full, wasOpen: false))
    let isTaken = caller.handleStreamConnected(link, key: key, at: now)
    #expect(!isTaken)
  }

  @Test func `what a full stream has no room for waits without a deadline`() throws {
    var path = StreamPath(limit: 4_096)
    var channels = ChannelSet()
    path.join()
    path.didReceive(bytes: 10, isAckEliciting: true, at: now)
    let later = now + .milliseconds(50)
    #expect(path.nextTimeout == later)
    try path.handleTimeout(at: later)
    var buffer: [UInt8] = []
    var scratch = Scratch()
    let full = SessionLink.pieceLength
    let fits = path.pollTransmit(
      queued: full, &channels, carries: true, &scratch, into: &buffer, at: later)
    #expect(!fits && path.owesAcknowledgement && path.nextTimeout == nil)
    let leaves = path.pollTransmit(
      queued: 0, &channels, carries: true, &scratch, into: &buffer, at: later)
    #expect(leaves && !path.owesAcknowledgement)
  }

  @Test func `whoever acknowledges no carrier gets no more of them`() throws {
    var path = StreamPath(limit: 4_096)
    var channels = ChannelSet()
    path.join()
    var buffer: [UInt8] = []
    var scratch = Scratch()
    var sent = 0
    for _ in 0..<StreamPath.mostUnacknowledged + 100 {
      _ = try channels.send([1].span, on: 0, SendOptions(.unreliable), at: now)
      buffer.removeAll(keepingCapacity: true)
      let leaves = path.pollTransmit(
        queued: 0, &channels, carries: true, &scratch, into: &buffer, at: now)
      if leaves { sent += 1 }
    }
    #expect(sent == StreamPath.mostUnacknowledged)
  }
}
