import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct DatagramPathTests {
  private let now = Instant(nanoseconds: 1_000_000_000)
  private let key = ConnectionKey(prefix: 1, rest: 2)
  private let route = Route(Endpoint(.loopback4, port: 1_000))

  /// An initiator's path whose round-trip time is known.
  private func makeMeasuredPath() -> DatagramPath {
    var path = DatagramPath.initiating([route], key: key, at: now)
    path.handleRetry(Retry(cookie: Cookie(bits: 1)!, keyPrefix: key.prefix), from: route, at: now)
    path.measureRoundTrip(at: now)
    return path
  }

  @Test func `an initiator that connects again discards the measurements of the old path`() {
    var path = makeMeasuredPath()
    #expect(path.flow.roundTrip.hasSample)
    let other = Route(Endpoint(.loopback4, port: 2_000))
    path.reconnect([other], at: now)
    path.handleRetry(Retry(cookie: Cookie(bits: 2)!, keyPrefix: key.prefix), from: other, at: now)
    #expect(!path.flow.roundTrip.hasSample)
    #expect(path.flow.nextNumber == 1)
  }

  @Test func `an initiator whose address has changed discards the measurements of the old path`() {
    var path = makeMeasuredPath()
    // A new cookie during the validation does not mean that an address has changed.
    path.handleRetry(Retry(cookie: Cookie(bits: 2)!, keyPrefix: nil), from: route, at: now)
    #expect(path.flow.roundTrip.hasSample)
    path.stage = .validated
    path.handleRetry(Retry(cookie: Cookie(bits: 3)!, keyPrefix: nil), from: route, at: now)
    #expect(!path.flow.roundTrip.hasSample)
  }

  @Test func `a hello moves a path only if its epoch is greater than any before`() {
    func hello(_ epoch: UInt32) -> Hello {
      Hello(key: key, epoch: epoch, resumes: false, cookie: Cookie(bits: 1))
    }
    var path = DatagramPath.responding(to: hello(5), from: route, at: now)
    let other = Route(Endpoint(.loopback4, port: 2_000))
    for epoch in [4, 5] as [UInt32] {
      path.handleHello(hello(epoch), from: other, at: now)
      #expect(path.route == route && path.epoch == 5)
    }
    path.handleHello(hello(6), from: other, at: now)
    #expect(path.route == other && path.epoch == 6)
    path.handleHello(hello(6), from: route, at: now)
    #expect(path.route == other)
  }

  @Test func `an initiator accepts only a retry with the first half of its key`() {
    var path = DatagramPath.initiating([route], key: key, at: now)
    for prefix in [nil, 0, 2] as [UInt64?] {
      path.handleRetry(Retry(cookie: Cookie(bits: 1)!, keyPrefix: prefix), from: route, at: now)
      #expect(path.stage == .connecting && path.cookie == nil)
    }
    path.handleRetry(Retry(cookie: Cookie(bits: 1)!, keyPrefix: 1), from: route, at: now)
    #expect(path.stage == .validating && path.cookie == Cookie(bits: 1))
  }

  @Test func `an initiator adds 1 to its epoch when it connects again or gets another cookie`() {
    let other = Route(Endpoint(.loopback4, port: 2_000))
    var initiator = Connection.initiating(
      as: LocalSide(makePeer(1)), key: key, at: now)
    initiator.connect(to: [route], at: now)
    #expect(sentHello(&initiator) == makeHello(1, nil))
    handleRetry(7, key.prefix, from: route, &initiator)
    #expect(sentHello(&initiator) == makeHello(1, 7))
    initiator.connect(to: [other], at: now)
    #expect(sentHello(&initiator) == makeHello(2, nil))
    handleRetry(8, key.prefix, from: other, &initiator)
    #expect(sentHello(&initiator) == makeHello(2, 8))
    handleRetry(8, nil, from: other, &initiator)
    #expect(sentHello(&initiator) == nil, "the initiator has this cookie already")
    handleRetry(9, nil, from: other, &initiator)
    #expect(sentHello(&initiator) == makeHello(3, 9))
  }

  private func makeHello(_ epoch: UInt32, _ cookie: UInt64?) -> Hello {
    Hello(key: key, epoch: epoch, resumes: false, cookie: cookie.flatMap(Cookie.init(bits:)))
  }

  private func handleRetry(
    _ cookie: UInt64, _ prefix: UInt64?, from source: Route, _ connection: inout Connection
  ) {
    let retry = Retry(cookie: Cookie(bits: cookie)!, keyPrefix: prefix)
    connection.handleRetry(retry, from: source, at: now)
  }

  /// The hello in the next datagram that the connection sends now, if there is one.
  private func sentHello(_ connection: inout Connection) -> Hello? {
    var datagram: [UInt8] = []
    guard connection.pollDatagram(into: &datagram, at: now) != nil else { return nil }
    var reader = PacketReader(datagram.span)
    guard case .hello(let hello) = try? SessionDatagram(decoding: &reader) else { return nil }
    return hello
  }

  @Test func `an urgent message is sent as early as it may, even while the window is full`()
    throws
  {
    var timing = SessionTiming()
    timing.firstPingInterval = .seconds(1)
    var host = Connection.responding(
      to: Hello(key: key, epoch: 1, resumes: false, cookie: nil), from: route,
      as: LocalSide(makePeer(1), timing: timing), at: now)
    host.handleRequest(of: makePeer(2), at: now)
    host.admit(at: now)
    let message = [UInt8](repeating: 7, count: 1_100)
    for _ in 0..<25 { try host.send(message, on: 0, .reliableUnordered, at: now) }
    var last = now
    for _ in 0..<16 {
      while isSending(&host, at: last) {}
      let due = try #require(host.nextTimeout)
      // At 96 kB/s, a packet of 1,160 bytes takes 12 ms.
      #expect(due > last && due - last < .milliseconds(15))
      let isEarly = isSending(&host, at: due.advanced(by: .milliseconds(-1)))
      #expect(!isEarly)
      let isSent = isSending(&host, at: due)
      #expect(isSent)
      last = due
    }
    let flow = try #require(host.datagram?.flow)
    #expect(flow.inFlight > flow.window)
  }

  /// Whether the connection sends a datagram now.
  private func isSending(_ connection: inout Connection, at now: Instant) -> Bool {
    var datagram: [UInt8] = []
    return connection.pollDatagram(into: &datagram, at: now) != nil
  }
}

extension DatagramPath {
  /// Sends the first packet, which is acknowledged after 20 ms.
  mutating func measureRoundTrip(at now: Instant) {
    flow.didSend(bytes: 100, isAckEliciting: true, records: [], isAppLimited: true, at: now)
    var (acknowledged, lost): ([FrameRecord], [FrameRecord]) = ([], [])
    var ranges = AcknowledgedRanges()
    ranges.append(0...0)
    _ = flow.handle(
      ranges, ackDelay: 0, at: now + .milliseconds(20), acknowledged: &acknowledged, lost: &lost)
  }
}
