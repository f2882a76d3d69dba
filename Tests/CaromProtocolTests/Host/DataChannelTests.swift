import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// A page with a WebSocket and a data channel, on the host that serves it.
private struct PageWorld {
  var host: Host
  let id: ConnectionID
  var page: Connection
  private var scratch = Scratch()
  var now = Instant(nanoseconds: 1_000_000_000)
  /// Where the page's data channel comes from.
  var source = Endpoint(.loopback4, port: 1_000)
  /// Whether the data channel carries anything.
  var hasChannel = true
  var hasWebSocket = true
  /// The lengths of the datagrams in both directions.
  private(set) var lengths: [Int] = []
  /// The number of tokens that the page has got.
  private(set) var invitations = 0
  private(set) var toPage: [[UInt8]] = []
  private(set) var toHost: [[UInt8]] = []
  private(set) var links: [LinkKind] = []

  init(security: LinkSecurity? = nil, isSealed: Bool = false) {
    host = Host(makePeer(1), seats: 1, security: security)
    id = host.makeConnectionID()
    _ = host.accept(id, isSealed: isSealed, isWebSocket: true, at: now)
    page = .initiatingOnStream(
      as: LocalSide(makePeer(2)), key: ConnectionKey(prefix: 7, rest: 8), at: now)
    exchange()
  }

  var route: Route { Route(throughChannel: source, socket: 0) }

  /// Opens the data channel from `port`.
  mutating func openChannel(from port: UInt16 = 1_000) {
    source = Endpoint(.loopback4, port: port)
    page.connect(to: [.hostOfPage], at: now)
    exchange()
    // Time for the host's first acknowledgement.
    advance(.milliseconds(100))
  }

  /// Lets the host transmit the datagrams of all connections in one pass. Returns their number, or
  /// nil if the WebSocket has to be polled first.
  mutating func transmitAll() -> Int? {
    var count = 0
    let stopped = host.transmitDatagrams(at: now) { _, _ in count += 1 }
    return stopped == nil ? count : nil
  }

  mutating func advance(_ duration: Duration) {
    now = now + duration
    host.handleTimeout(at: now)
    page.handleTimeout(at: now)
    exchange()
  }

  mutating func exchange() {
    for _ in 0..<12 {
      while let event = host.pollEvent() {
        switch event {
        case .requested(let id, _, _): host.admit(id, at: now)
        case .connection(_, .linkChanged(let kind)): links.append(kind)
        case .connection(let id, .messages):
          while host.pollMessage(on: id, { toHost.append(Array(copying: $1)) }) {}
        default: break
        }
      }
      while let event = page.pollEvent() {
        if case .invited = event { invitations += 1 }
        guard event == .messages else { continue }
        while page.pollMessage({ toPage.append(Array(copying: $1)) }) {}
      }
      exchangeStream()
      exchangeDatagrams()
    }
  }

  private mutating func exchangeStream() {
    while true {
      var bytes: [UInt8] = []
      guard page.pollStream(queued: 0, &scratch, at: now, { bytes = Array(copying: $0) }) else {
        break
      }
      if hasWebSocket { host.receive(bytes.span, on: id, at: now) }
    }
    while let bytes = host.pollTransmit(on: id, queued: 0, at: now) {
      if hasWebSocket { page.receive(bytes.span, &scratch, at: now) }
    }
  }

  private mutating func exchangeDatagrams() {
    while page.pollDatagram(&scratch, at: now) != nil {
      let datagram = Array(copying: scratch.writer.span)
      lengths.append(datagram.count)
      if hasChannel { host.receiveDatagram(datagram.span, from: route, at: now) }
    }
    while let reply = host.pollStatelessReply() { receive(reply.bytes, on: reply.route) }
    while let route = host.pollDatagram(on: id, at: now) {
      receive(Array(copying: host.datagram), on: route)
    }
  }

  private mutating func receive(_ datagram: [UInt8], on route: Route) {
    lengths.append(datagram.count)
    #expect(route.isDataChannel)
    guard hasChannel, route.endpoint == source else { return }
    var reader = PacketReader(datagram.span)
    switch try? SessionDatagram(decoding: &reader) {
    case .retry(let retry): page.handleRetry(retry, from: .hostOfPage, at: now)
    case .refusal(let refusal): page.handleRefusal(refusal, at: now)
    case .data:
      var none = Arrivals()
      page.receiveDatagram(datagram.span, into: &none, &scratch, at: now)
    default: Issue.record("a host sends a page no other datagrams")
    }
  }
}

/// Data channels of pages, as the session's machines see them.
@Suite struct DataChannelTests {
  @Test func `datagrams of a data channel continue the connection of a WebSocket`() throws {
    var world = PageWorld()
    #expect(world.host.kind(of: world.id) == .webSocket)
    world.openChannel()
    #expect(world.host.kind(of: world.id) == .dataChannel && world.page.link == .dataChannel)
    #expect(world.links == [.dataChannel])
    let message = [UInt8](repeating: 9, count: 5_000)
    try world.page.send(message.span, on: 1, SendOptions(.reliableOrdered), at: world.now)
    for _ in 0..<50 { world.advance(.milliseconds(20)) }
    #expect(world.toHost == [message])
    #expect(world.lengths.max() == SessionWire.dataChannelPayload)
  }

  @Test func `an idle WebSocket is not polled, and one with output comes before datagrams`() throws
  {
    var world = PageWorld()
    world.openChannel()
    #expect(world.transmitAll() == 0)
    try world.host.send(
      [1].span, on: 3, SendOptions(.unreliable), to: world.id, at: world.now)
    #expect(world.transmitAll() == 1)
    let index = try #require(world.host.index(of: world.id))
    world.host.entries[index].connection.send(.ping(sent: 1), on: .stream, at: world.now)
    world.host.markReady(index)
    #expect(world.transmitAll() == nil)
  }

  @Test func `a data channel without a WebSocket is refused`() throws {
    var world = PageWorld()
    var hello = Hello(
      key: ConnectionKey(prefix: 5, rest: 5), epoch: 1, resumes: false, cookie: nil)
    hello.cookie = Cookie(for: world.source, secret: world.host.secret, at: world.now)
    var writer = FrameWriter(limit: Hello.paddedLength)
    hello.write(to: &writer)
    world.host.receiveDatagram(writer.span, from: world.route, at: world.now)
    let reply = world.host.pollStatelessReply()
    let bytes = try #require(reply).bytes
    var reader = PacketReader(bytes.span)
    let refusal = Refusal(keyPrefix: 5, reason: Goodbye.Code.forgotten.rawValue, tag: nil)
    #expect(try SessionDatagram(decoding: &reader) == .refusal(refusal))
  }

  @Test func `a host that encrypts takes a data channel for a WebSocket over TLS alone`() {
    var generator = SeededGenerator(seed: 3)
    let security = LinkSecurity(using: &generator, access: .anyone)
    var world = PageWorld(security: security, isSealed: true)
    #expect(world.host.isOpen(world.id))
    world.openChannel()
    #expect(world.host.kind(of: world.id) == .dataChannel)
    #expect(world.host.protection(of: world.id)?.isBelow == true)

    // The same hello outside the data channel has no effect.
    var other = PageWorld(security: security, isSealed: true)
    var hello = Hello(key: other.page.key, epoch: 1, resumes: false, cookie: nil)
    hello.cookie = Cookie(for: other.source, secret: other.host.secret, at: other.now)
    var writer = FrameWriter(limit: Hello.paddedLength)
    hello.write(to: &writer)
    other.host.receiveDatagram(writer.span, from: Route(other.source), at: other.now)
    #expect(other.host.kind(of: other.id) == .webSocket)
    #expect(other.host.pollStatelessReply()?.bytes == nil)
  }

  @Test func `when the data channel ends, the WebSocket carries on`() throws {
    var world = PageWorld()
    world.openChannel()
    world.hasChannel = false
    try world.page.send([1].span, on: 1, SendOptions(.reliableOrdered), at: world.now)
    world.exchange()
    #expect(world.toHost.isEmpty)
    world.host.handleChannelEnd(world.route, at: world.now)
    world.page.suspendDatagrams(at: world.now)
    world.exchange()
    #expect(world.toHost == [[1]])
    #expect(world.host.kind(of: world.id) == .webSocket && world.page.link == .stream)
    // The end of a channel that carries nothing any more changes nothing.
    world.host.handleChannelEnd(world.route, at: world.now)
    #expect(world.host.isOpen(world.id))
  }

  @Test(arguments: [false, true])
  func `a second data channel takes the place of the first`(hostHasSeenTheEnd: Bool) throws {
    var world = PageWorld()
    world.openChannel()
    for _ in 0..<20 { world.advance(.milliseconds(100)) }
    world.page.suspendDatagrams(at: world.now)
    if hostHasSeenTheEnd { world.host.handleChannelEnd(world.route, at: world.now) }
    world.openChannel(from: 2_000)
    #expect(world.page.link == .dataChannel)
    for number in 0..<20 as Range<UInt8> {
      try world.page.send([number].span, on: 1, SendOptions(.reliableOrdered), at: world.now)
      world.advance(.milliseconds(10))
    }
    #expect(world.toHost == (0..<20 as Range<UInt8>).map { [$0] })
    // The end of the first one comes late, and concerns nobody.
    let first = Route(throughChannel: Endpoint(.loopback4, port: 1_000), socket: 0)
    world.host.handleChannelEnd(first, at: world.now)
    #expect(world.host.kind(of: world.id) == .dataChannel)
  }

  @Test func `a data channel that comes from another address continues its path`() throws {
    var world = PageWorld()
    world.openChannel()
    for _ in 0..<20 { world.advance(.milliseconds(100)) }
    world.source = Endpoint(.loopback4, port: 3_000)
    for number in 0..<20 as Range<UInt8> {
      try world.page.send([number].span, on: 1, SendOptions(.reliableOrdered), at: world.now)
      world.advance(.milliseconds(50))
    }
    #expect(world.toHost == (0..<20 as Range<UInt8>).map { [$0] })
    #expect(world.page.link == .dataChannel && world.links == [.dataChannel])
  }

  @Test func `without a WebSocket, the end of the data channel interrupts the connection`() {
    var world = PageWorld()
    world.openChannel()
    world.hasWebSocket = false
    world.page.handleLinkEnd(.reset, at: world.now)
    world.host.handleLinkEnd(.reset, of: world.id, at: world.now)
    world.exchange()
    #expect(world.page.isOpen && world.page.interruption == nil)
    world.page.suspendDatagrams(at: world.now)
    #expect(world.page.interruption != nil)
  }

  @Test func `no token is issued to a page`() {
    var world = PageWorld()
    world.openChannel()
    for _ in 0..<20 { world.advance(.milliseconds(100)) }
    #expect(world.invitations == 0)
  }
}
