import CaromCodec
import CaromCore
import CaromCrypto
import Testing

@testable import CaromProtocol

/// What those who have proven nothing may take of a host.
@Suite struct StrangerTests {
  private let now = Instant(nanoseconds: 1_000_000_000)
  private let host4: UInt32 = 0x0A00_0000

  private func makeKey(_ number: UInt64) -> ConnectionKey {
    ConnectionKey(prefix: number, rest: number)
  }

  private func makeSecurity(
    _ seed: UInt64, access: LinkAccess = .anyone
  ) -> LinkSecurity {
    var generator = SeededGenerator(seed: seed)
    return LinkSecurity(using: &generator, access: access)
  }

  /// Lets the host finish with the connections that have something to do, as a shell does.
  private func flush(_ host: inout Host, at now: Instant) {
    while host.pollEvent() != nil {}
    while let id = host.pollReady() {
      while host.pollDatagram(on: id, at: now) != nil {}
      while host.pollTransmit(on: id, queued: 0, at: now, { _ in }) {}
      _ = host.pollLinkAction(on: id)
      host.didFlush(id, at: now)
    }
    while host.pollStatelessReply() != nil {}
  }

  /// Accepts a stream from `source`. Returns its connection; nil if it is refused.
  private func accept(
    _ host: inout Host, from source: IPAddress, at now: Instant
  ) -> ConnectionID? {
    let id = host.makeConnectionID()
    return host.accept(id, from: source, at: now) ? id : nil
  }

  /// The datagram with a hello that proves `source` and, if `security` is not nil, the first
  /// message of a handshake.
  private func makeHello(
    _ key: ConnectionKey, from source: Route, to host: Host, _ security: LinkSecurity?,
    at now: Instant
  ) -> [UInt8] {
    let cookie = Cookie(for: source.endpoint, secret: host.secret, at: now)
    let hello = Hello(
      key: key, epoch: 1, resumes: false, cookie: cookie, isSealed: security != nil)
    var writer = FrameWriter(limit: Hello.paddedLength)
    hello.write(to: &writer)
    if var security {
      var secrets = security.takeSecrets()
      let handshake = LinkHandshake.initiating(security, key: key, &secrets)
      HandshakePart(number: 1, keyPrefix: key.prefix, message: handshake.message).write(to: &writer)
    }
    return writer.takeBytes()
  }

  /// Sends a hello for the connection with the number `number` from `source`.
  private func sayHello(
    _ number: UInt64, from source: IPAddress, to host: inout Host,
    _ security: LinkSecurity? = nil, at now: Instant
  ) {
    let route = Route(Endpoint(source, port: UInt16(truncatingIfNeeded: number)))
    let bytes = makeHello(makeKey(number), from: route, to: host, security, at: now)
    host.receiveDatagram(bytes.span, from: route, at: now)
  }

  // MARK: Streams

  @Test func `a source has 32 strangers on streams, and a newer one replaces one that waits`() {
    var host = Host(makePeer(1), seats: 1)
    let source = IPAddress.v4(host4 + 1)
    let first = accept(&host, from: source, at: now)
    for _ in 1..<32 { #expect(accept(&host, from: source, at: now) != nil) }
    // They all have just come, so the next one has to wait.
    #expect(accept(&host, from: source, at: now + .milliseconds(999)) == nil)
    #expect(accept(&host, from: .v4(host4 + 2), at: now + .milliseconds(999)) != nil)
    #expect(host.strangerStatistics.refused == 1 && host.connectionIDs.count == 33)
    #expect(accept(&host, from: source, at: now + .seconds(1)) != nil)
    flush(&host, at: now + .seconds(1))
    #expect(host.connectionIDs.count == 33 && first.map { host.contains($0) } == false)
    #expect(host.strangerStatistics.dropped == 1)
    #expect(host.strangerStatistics.beyondSourceLimit == 2)
    #expect(host.strangerStatistics.beyondStreamLimit == 0)
  }

  @Test func `the first 64 bits of an IPv6 address are one source, and this computer is none`() {
    var host = Host(makePeer(1), seats: 1)
    for low in 0..<32 as Range<UInt64> {
      #expect(accept(&host, from: .v6(high: 7, low: low, scope: 0), at: now) != nil)
    }
    #expect(accept(&host, from: .v6(high: 7, low: 99, scope: 0), at: now) == nil)
    #expect(accept(&host, from: .v6(high: 8, low: 99, scope: 0), at: now) != nil)
    for _ in 0..<100 {
      #expect(accept(&host, from: .loopback6, at: now) != nil)
      #expect(accept(&host, from: .v4(0x7F00_0005), at: now) != nil)
    }
  }

  @Test func `of more than 512 strangers on streams, the oldest go`() throws {
    var host = Host(makePeer(1), seats: 1)
    let player = try #require(accept(&host, from: .v4(host4), at: now))
    let request = ControlPacket.request(
      version: SessionWire.version, makeKey(9), makePeer(9))
    host.receive(request.packet.framed().span, on: player, at: now)
    var strangers: [ConnectionID] = []
    for number in 1...600 as ClosedRange<UInt32> {
      strangers.append(try #require(accept(&host, from: .v4(host4 + number), at: now)))
    }
    #expect(host.strangerCount == 512)
    flush(&host, at: now)
    // The player, who has requested a seat, stays.
    #expect(host.connectionIDs == [player] + strangers.suffix(512))
    #expect(host.strangerStatistics == StrangerStatistics(dropped: 88, beyondStreamLimit: 88))
  }

  @Test func `one who requests a seat makes room for another stranger`() throws {
    var host = Host(makePeer(1), seats: 1)
    let source = IPAddress.v4(host4 + 1)
    let player = try #require(accept(&host, from: source, at: now))
    for _ in 1..<32 { #expect(accept(&host, from: source, at: now) != nil) }
    #expect(accept(&host, from: source, at: now) == nil)
    let request = ControlPacket.request(
      version: SessionWire.version, makeKey(9), makePeer(9))
    host.receive(request.packet.framed().span, on: player, at: now)
    #expect(host.strangerCount == 31)
    let next = try #require(accept(&host, from: source, at: now))
    host.handleLinkEnd(.reset, of: next, at: now)
    flush(&host, at: now)
    #expect(host.strangerCount == 31 && !host.contains(next))
    #expect(accept(&host, from: source, at: now) != nil)
  }

  // MARK: Datagrams

  @Test func `a source has 32 half-open handshakes, and all sources 1,024`() {
    var host = Host(makePeer(1), seats: 1)
    for number in 1...40 as ClosedRange<UInt64> {
      sayHello(number, from: .v4(host4), to: &host, at: now)
    }
    #expect(host.strangerCount == 32 && host.strangerStatistics.refused == 8)
    // The hello is repeated, and the strangers of the source have had their time.
    sayHello(40, from: .v4(host4), to: &host, at: now + .seconds(1))
    #expect(host.keys[makeKey(40)] != nil && host.keys[makeKey(2)] != nil)
    flush(&host, at: now + .seconds(1))
    #expect(host.keys[makeKey(1)] == nil && host.strangerCount == 32)
    for number in 1...1100 as ClosedRange<UInt32> {
      let key = 100 + UInt64(number)
      sayHello(key, from: .v4(host4 + number), to: &host, at: now + .seconds(1))
    }
    flush(&host, at: now + .seconds(1))
    #expect(host.strangerCount == 1024 && host.connectionIDs.count == 1024)
    #expect(host.keys[makeKey(176)] == nil && host.keys[makeKey(177)] != nil)
    #expect(host.strangerStatistics.beyondSourceLimit == 9)
    #expect(host.strangerStatistics.beyondHandshakeLimit == 32 + 1100 - 1024)
  }

  @Test func `strangers take at most 800 handshakes a second on each kind of link`() {
    var host = Host(makePeer(1), seats: 1, security: makeSecurity(1))
    let client = makeSecurity(2)
    for number in 1...300 as ClosedRange<UInt32> {
      sayHello(UInt64(number), from: .v4(host4 + number), to: &host, client, at: now)
    }
    #expect(host.strangerCount == 200)
    #expect(host.strangerStatistics == StrangerStatistics(postponed: 100))
    // The budget for streams is another one.
    #expect(host.findStreamPause(at: now) == nil)
    for number in 1...200 as ClosedRange<UInt32> {
      #expect(accept(&host, from: .v4(host4 + number), at: now) != nil)
    }
    #expect(host.findStreamPause(at: now) == now + .microseconds(1250))
    #expect(accept(&host, from: .v4(host4), at: now) == nil)
    let later = now + .milliseconds(100)
    for number in 201...300 as ClosedRange<UInt32> {
      sayHello(UInt64(number), from: .v4(host4 + number), to: &host, client, at: later)
    }
    #expect(host.strangerCount == 480)
    for number in 301...380 as ClosedRange<UInt32> {
      #expect(accept(&host, from: .v4(host4 + number), at: later) != nil)
    }
    #expect(accept(&host, from: .v4(host4), at: later) == nil)
  }

  @Test func `a handshake with a code counts twice, and one in plaintext does not count`() throws {
    let code = try JoinCode("K7QM-2XRT")
    let access = LinkAccess.code(code, isForOneUse: false)
    var host = Host(makePeer(1), seats: 1, security: makeSecurity(1, access: access))
    let client = makeSecurity(2, access: access)
    for number in 1...150 as ClosedRange<UInt32> {
      sayHello(UInt64(number), from: .v4(host4 + number), to: &host, client, at: now)
    }
    #expect(host.strangerCount == 100 && host.strangerStatistics.postponed == 50)
    var plain = Host(makePeer(1), seats: 1)
    for number in 1...400 as ClosedRange<UInt32> {
      sayHello(UInt64(number), from: .v4(host4 + number), to: &plain, at: now)
    }
    #expect(plain.strangerCount == 400 && plain.strangerStatistics == StrangerStatistics())
  }

  @Test func `a handshake with a known host counts a third more on a stream, too`() throws {
    /// Accepts streams for half a second, as a shell does, and lets each begin with `opening`.
    /// Returns how many were accepted.
    func count(_ opening: [UInt8]) -> Int {
      var host = Host(makePeer(1), seats: 1, security: makeSecurity(1))
      var (time, count) = (now, 0)
      while time < now + .milliseconds(500) {
        let id = accept(&host, from: .v4(host4 + UInt32(count)), at: time)
        #expect(id != nil, "a stream was let through and then refused")
        guard let id else { break }
        count += 1
        let pause = host.findStreamPause(at: time)
        host.receive(opening.span, on: id, at: time)
        host.handleLinkEnd(.reset, of: id, at: time)
        flush(&host, at: time)
        time = pause ?? time
      }
      return count
    }
    let security = makeSecurity(1)
    let key = try #require(security.identity).publicKey
    func makeOpening(_ handshake: LinkHandshake?) throws -> [UInt8] {
      let message = try #require(handshake).message
      return ControlPacket.handshake(version: SessionWire.sealedVersion, message).packet.framed()
    }
    var client = makeSecurity(2)
    var secrets = client.takeSecrets()
    let ordinary = try makeOpening(
      LinkHandshake.initiating(client, key: .none, &secrets))
    let known = try makeOpening(
      LinkHandshake.initiating(
        client, host: key, key: .none, hello: [], payload: [],
        ephemeral: KeyPair(secret: secrets.next())))
    // 200 and 150 at once, and then 800 and 600 a second.
    #expect(abs(count(ordinary) - 600) <= 1)
    #expect(abs(count(known) - 450) <= 1)
  }

  @Test func `a repeated hello takes nothing from the budget`() {
    var host = Host(makePeer(1), seats: 1, security: makeSecurity(1))
    let client = makeSecurity(2)
    for _ in 1...500 { sayHello(1, from: .v4(host4 + 1), to: &host, client, at: now) }
    #expect(host.strangerStatistics.postponed == 0)
    for number in 2...200 as ClosedRange<UInt32> {
      sayHello(UInt64(number), from: .v4(host4 + number), to: &host, client, at: now)
    }
    #expect(host.strangerCount == 200 && host.strangerStatistics.postponed == 0)
  }

  @Test func `a client joins once the budget allows it`() {
    var pair = DatagramPair(isEncrypted: true)
    let flood = makeSecurity(2)
    for number in 1...250 as ClosedRange<UInt32> {
      sayHello(UInt64(number), from: .v4(0x0B00_0000 + number), to: &pair.host, flood, at: pair.now)
    }
    #expect(pair.host.strangerStatistics.postponed == 50)
    pair.connect(makeKey(1000))
    pair.run(for: .seconds(3))
    #expect(pair.client.isOpen(pair.id))
  }

  @Test func `somebody who knows the key of a connection cannot get around the budget`() throws {
    var host = Host(makePeer(1), seats: 1, security: makeSecurity(1))
    let client = makeSecurity(2)
    sayHello(1, from: .v4(host4), to: &host, client, at: now)
    for number in 2...200 as ClosedRange<UInt32> {
      sayHello(UInt64(number), from: .v4(host4 + number), to: &host, client, at: now)
    }
    // Later another handshake may replace the one that nobody continued, but not without budget.
    let later = now + .seconds(3)
    for number in 201...400 as ClosedRange<UInt32> {
      sayHello(UInt64(number), from: .v4(host4 + number), to: &host, client, at: later)
    }
    #expect(host.strangerStatistics.postponed == 0)
    sayHello(1, from: .v4(host4), to: &host, makeSecurity(3), at: later)
    #expect(host.strangerStatistics.postponed == 1)
  }

  @Test func `those who present a connect token do not count`() throws {
    var pair = DatagramPair(
      ConnectTokenTests.makeReader(), client: try ConnectTokenTests.makeToken(1),
      as: ConnectTokenTests.player)
    for number in 1...250 as ClosedRange<UInt64> {
      let player = PeerID(high: 1, low: number)
      pair.setClient(try ConnectTokenTests.makeToken(number, player: player), as: player)
      pair.connect(makeKey(number))
      let datagram = try #require(pair.takeToHost().last)
      let source = Endpoint(.v4(host4), port: UInt16(1000 + number))
      pair.deliverToHost(datagram, from: Route(source))
    }
    #expect(pair.host.strangerCount == 0)
    #expect(pair.hostEvents.count { if case .requested = $0 { true } else { false } } == 4)
    #expect(pair.hostEvents.endings.count == 246)  // there are four seats
    #expect(pair.host.strangerStatistics == StrangerStatistics(withToken: 250))
  }

  @Test func `a stranger beyond all connections is refused, on a stream and over datagrams`() {
    var host = Host(makePeer(1), seats: 1)
    // Those who have requested a seat are no strangers, so no other limit holds for them.
    for number in 1...Host.connectionLimit {
      let id = host.makeConnectionID()
      let isAccepted = host.accept(id, at: now)
      #expect(isAccepted)
      let request = ControlPacket.request(
        version: SessionWire.version, makeKey(UInt64(number)), makePeer(UInt64(number) + 1))
      host.receive(request.packet.framed().span, on: id, at: now)
    }
    #expect(host.strangerCount == 0)
    #expect(accept(&host, from: .v4(host4), at: now) == nil)
    sayHello(9_999, from: .v4(host4), to: &host, at: now)
    #expect(host.strangerStatistics == StrangerStatistics(refused: 2, beyondConnectionLimit: 2))
  }
}
