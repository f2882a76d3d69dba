import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// What a host stores, and for how long.
@Suite struct HostLimitTests {
  private let now = Instant(nanoseconds: 1_000_000_000)

  private func makeKey(_ number: UInt64) -> ConnectionKey {
    ConnectionKey(prefix: number, rest: number)
  }

  /// Sends a request on a new stream.
  private func request(
    _ info: PeerInfo, _ key: ConnectionKey, at host: inout Host
  ) -> ConnectionID {
    let id = host.makeConnectionID()
    let isAccepted = host.accept(id, at: now)
    #expect(isAccepted)
    let request = ControlPacket.request(version: 2, key, info)
    host.receive(request.packet.framed().span, on: id, at: now)
    return id
  }

  private func events(of host: inout Host) -> [HostEvent] {
    var events: [HostEvent] = []
    while let event = host.pollEvent() { events.append(event) }
    return events
  }

  @Test func `a host remembers the keys of the last 64 connections that were open`() {
    var host = Host(makePeer(1), seats: 1, timing: .withoutResuming)
    for number in 1...66 as ClosedRange<UInt64> {
      let id = request(makePeer(100), makeKey(number), at: &host)
      if number != 2 { host.admit(id, at: now) }  // the second connection never opens
      host.handleLinkEnd(.ended, of: id, at: now)
    }
    #expect(host.connectionIDs.isEmpty)
    _ = events(of: &host)
    for number in 1...66 as ClosedRange<UInt64> {
      let id = request(makePeer(100), makeKey(number), at: &host)
      let isForgotten = number < 3
      #expect(
        events(of: &host).first
          == (isForgotten
            ? .requested(id, makePeer(100), replacing: nil)
            : .closed(id, nil, .connectionLost, wasOpen: false)),
        "\(number)")
      host.handleLinkEnd(.ended, of: id, at: now)
      _ = events(of: &host)
    }
  }

  @Test func `at most 64 replies wait to be sent`() {
    var host = Host(makePeer(1), seats: 1)
    for port in 1...70 as ClosedRange<UInt16> {
      host.receiveDatagram(
        ([0x10] + [UInt8](repeating: 0, count: 40)).span,
        from: Route(Endpoint(.loopback4, port: port)), at: now)
    }
    var ports: [UInt16] = []
    while let reply = host.pollStatelessReply() { ports.append(reply.route.endpoint.port) }
    #expect(ports == Array(1...64))
  }

  @Test func `a hello beyond the limit on connections is refused with code 3`() throws {
    var host = Host(makePeer(1), seats: 1)
    for number in 1...UInt64(Host.connectionLimit) {
      let isAccepted = host.accept(ConnectionID(number), at: now)
      #expect(isAccepted)
    }
    let source = Route(Endpoint(.loopback4, port: 1_000))
    let hello = Hello(
      key: makeKey(5), epoch: 1, resumes: false,
      cookie: Cookie(for: source.endpoint, secret: host.secret, at: now))
    var writer = FrameWriter(limit: Hello.paddedLength)
    hello.write(to: &writer)
    host.receiveDatagram(writer.span, from: source, at: now)
    let reply = host.pollStatelessReply()
    #expect(reply?.bytes == [0x82, 5, 0, 0, 0, 0, 0, 0, 0, 3])
    #expect(host.connectionIDs.count == Host.connectionLimit)
  }

  @Test func `spectators have seats of their own, and a closed host has none of either kind`() {
    var host = Host(makePeer(1), seats: 1, spectatorSeats: 1)
    func makeInfo(_ number: UInt64, isSpectator: Bool) -> PeerInfo {
      PeerInfo(
        id: PeerID(high: 0, low: number), name: "", application: "test", isSpectator: isSpectator)
    }
    #expect(host.freeSeats == 1 && host.freeSeats(forSpectators: true) == 1)
    let spectator = makeInfo(11, isSpectator: true)
    let first = request(spectator, makeKey(1), at: &host)
    #expect(events(of: &host) == [.requested(first, spectator, replacing: nil)])
    #expect(host.freeSeats == 1 && host.freeSeats(forSpectators: true) == 0)
    let second = makeInfo(12, isSpectator: true)
    let late = request(second, makeKey(2), at: &host)
    #expect(events(of: &host) == [.closed(late, second, .full, wasOpen: false)])
    host.handleLinkEnd(.ended, of: first, at: now)
    _ = events(of: &host)
    #expect(host.freeSeats(forSpectators: true) == 1)
    host.closeSeats()
    #expect(host.freeSeats == 0 && host.freeSeats(forSpectators: true) == 0)
    for isSpectator in [false, true] {
      let info = makeInfo(13, isSpectator: isSpectator)
      let id = request(info, makeKey(isSpectator ? 3 : 4), at: &host)
      #expect(events(of: &host) == [.closed(id, info, .full, wasOpen: false)])
    }
  }

  @Test func `two connections of a host do not use the same endpoint`() {
    var client = Host(makePeer(2), seats: 0)
    let (a, b) = (Route(Endpoint(.loopback4, port: 1)), Route(Endpoint(.loopback4, port: 2)))
    let (first, second) = (client.makeConnectionID(), client.makeConnectionID())
    client.connect(first, to: [a], key: makeKey(1), at: now)
    client.connect(second, to: [a, b], key: makeKey(2), at: now)
    #expect(ports(of: first, &client) == [1])
    #expect(ports(of: second, &client) == [2])
    client.connect(first, to: [a, b], key: makeKey(1), at: now)
    #expect(ports(of: first, &client) == [1], "its own endpoint is not taken")
  }

  /// The ports to which a connection sends within a second, without repetitions.
  private func ports(of id: ConnectionID, _ host: inout Host) -> Set<UInt16> {
    var ports: Set<UInt16> = []
    for pass in 0..<20 {
      var bytes: [UInt8] = []
      let route = host.pollDatagram(on: id, into: &bytes, at: now + .milliseconds(50) * pass)
      if let route { ports.insert(route.endpoint.port) }
    }
    return ports
  }

  @Test(arguments: [true, false])
  func `messages that the owner discards are not delivered`(isRemoved: Bool) throws {
    var pair = DatagramPair.opened()
    pair.hostReads = false
    let id = try #require(pair.hostID)
    try pair.client.send([7], on: 0, to: pair.id, at: pair.now)
    pair.client.close(pair.id, Goodbye(.left), at: pair.now)
    pair.run(for: isRemoved ? .seconds(2) : .milliseconds(100))
    #expect(pair.hostEvents.endings == [.left])
    #expect(pair.host.contains(id) != isRemoved && pair.host.hasMessages(id))
    pair.host.discardUndelivered(id)
    pair.run(for: .seconds(2))
    #expect(!pair.host.contains(id) && !pair.host.hasMessages(id))
    pair.readHostMessages(on: id)
    #expect(pair.hostMessages == [])
  }

  @Test func `the messages of the last 64 connections are kept for an owner that reads late`()
    throws
  {
    var host = Host(makePeer(1), seats: 1, timing: .withoutResuming)
    var ids: [ConnectionID] = []
    for number in 1...65 as ClosedRange<UInt64> {
      let id = request(makePeer(100), makeKey(number), at: &host)
      host.admit(id, at: now)
      let frames = try #require(encodeFrames([.message(.reliableOrdered, 0, 0, [UInt8(number)])]))
      host.receive(
        Packet(type: 3, action: 0, payload: frames).framed().span, on: id, at: now)
      host.handleLinkEnd(.ended, of: id, at: now)
      ids.append(id)
    }
    let messages = ids.map { host.pollMessage(on: $0)?.bytes }
    let kept = (2...65 as ClosedRange<UInt8>).map { [$0] }
    #expect(messages.first == .some(nil) && messages.dropFirst().elementsEqual(kept))
  }

  @Test func `a hello with a token is answered with a retry if its connection is elsewhere`()
    throws
  {
    var pair = DatagramPair.opened()
    pair.run(for: .milliseconds(100))
    let tokens = pair.clientEvents.compactMap { event -> JoinToken? in
      if case .connection(_, .invited(let token)) = event { token } else { nil }
    }
    #expect(tokens.count == 1, "each connection gets one token")
    let token = try #require(tokens.first)
    #expect(token.host == DatagramPair.hostRoute.endpoint)
    pair.client.close(pair.id, Goodbye(.left), at: pair.now)
    pair.run(for: .seconds(2))
    let id = pair.client.makeConnectionID()
    pair.client.connect(
      id, to: [DatagramPair.hostRoute], key: makeKey(9), token: token, at: pair.now)
    pair.drain()
    let hello = try #require(pair.takeToHost().first)
    pair.deliverToHost(hello)
    #expect(pair.host.connectionIDs.count == 1)
    _ = pair.takeToClient()
    pair.deliverToHost(hello, from: Route(Endpoint(.v4(0x0A00_0002), port: 6_000)))
    let replies = pair.takeToClient()
    #expect(replies.count == 1 && replies.first?.count == 17 && replies.first?.first == 0x81)
    #expect(pair.host.connectionIDs.count == 1)
  }
}
