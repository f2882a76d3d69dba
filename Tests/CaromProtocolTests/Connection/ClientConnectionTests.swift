import CaromCore
import Testing

@testable import CaromProtocol

/// A page's connection and its host, which send each other numbers, each in a reliable message, on
/// the time of the test. What is sent arrives 10 ms later, but some of the datagrams are lost.
private struct PageAndHost {
  private static let delay = Duration.milliseconds(10)
  private static let step = Duration.milliseconds(2)
  private static let channel: UInt8 = 3

  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  private(set) var page: ClientConnection
  /// What the page's connection has reported, except messages and measurements.
  private(set) var pageEvents: [ConnectionEvent] = []
  /// The numbers that each side has received.
  private(set) var (atPage, atHost): ([UInt32], [UInt32]) = ([], [])
  /// The number of messages that each side has sent.
  private(set) var sent: UInt32 = 0
  /// Whether both sides send a message in each step.
  var isSending = true
  /// Whether the page's connection used the newest data channel.
  private(set) var usesDatagrams = false
  /// The fraction of datagrams that are lost, from 0 to 1.
  var loss = 0.0
  /// The number of datagrams that each side has sent.
  private(set) var datagrams = (byPage: 0, byHost: 0)
  private(set) var ended: [DisconnectReason] = []

  private var host = Host(makePeer(1), seats: 1)
  /// The host's connection, and its stream.
  private(set) var id = ConnectionID(0)
  private var stream: ConnectionID?
  /// From where the page's datagrams come; nil without a data channel.
  private var source: Route?
  private var generator = SeededGenerator(seed: 5)
  private var (bytesToPage, bytesToHost): (Flight, Flight) = ([], [])
  private var (datagramsToPage, datagramsToHost): (Flight, Flight) = ([], [])
  private typealias Flight = [(arrival: Instant, bytes: [UInt8])]

  init(timing: SessionTiming = SessionTiming()) {
    page = ClientConnection(
      as: makePeer(2), key: ConnectionKey(prefix: 1, rest: 2), timing: timing)
  }

  /// The link that carries the host's messages.
  var hostLink: LinkKind? { host.connection(id)?.link }
  /// The link that carries the page's messages.
  var pageLink: LinkKind? {
    var copy = page
    return copy.findLink()
  }
  /// Whether each side has received all that the other has sent, once and in order.
  var isComplete: Bool { atPage == Array(0..<sent) && atHost == atPage }

  mutating func openStream() {
    let new = host.makeConnectionID()
    if host.accept(new, at: now), page.addStream(at: now) { stream = new }
  }

  /// Breaks the stream for both sides. What is on the way is lost.
  mutating func breakStream() {
    (bytesToPage, bytesToHost) = ([], [])
    page.handleLinkEnd(.reset, at: now)
    if let stream { host.handleLinkEnd(.reset, of: stream, at: now) }
    stream = nil
  }

  /// Opens a data channel, whose datagrams reach the host from a port of its own.
  mutating func openDatagrams(from port: UInt16) {
    source = Route(Endpoint(.v4(0x0A00_0002), port: port))
    usesDatagrams = page.openDatagrams(at: now)
  }

  /// Closes the data channel at the page; the host is not told. What is on the way is lost.
  mutating func closeDatagrams() {
    source = nil
    (datagramsToPage, datagramsToHost) = ([], [])
    page.closeDatagrams(at: now)
  }

  mutating func close() { page.close(Goodbye(.left), at: now) }

  mutating func run(_ duration: Duration) {
    let end = now + duration
    while now < end {
      now = now + Self.step
      if let due = page.findTimeout(), now >= due { page.handleTimeout(at: now) }
      if let due = host.nextTimeout, now >= due { host.handleTimeout(at: now) }
      deliver()
      if isSending { send() }
      drainPage()
      drainHost()
    }
  }

  private mutating func deliver() {
    while let next = bytesToPage.first, next.arrival <= now {
      bytesToPage.removeFirst()
      page.receive(next.bytes.span, at: now)
      drainPage()
    }
    while let next = bytesToHost.first, next.arrival <= now {
      bytesToHost.removeFirst()
      if let stream { host.receive(next.bytes.span, on: stream, at: now) }
      drainHost()
    }
    while let next = datagramsToPage.first, next.arrival <= now {
      datagramsToPage.removeFirst()
      page.receiveDatagram(next.bytes.span, at: now)
      drainPage()
    }
    while let next = datagramsToHost.first, next.arrival <= now {
      datagramsToHost.removeFirst()
      if let source { host.receiveDatagram(next.bytes.span, from: source, at: now) }
      drainHost()
    }
  }

  private mutating func send() {
    var writer = PacketWriter(capacity: 4)
    writer.write(sent)
    let (bytes, options) = (writer.bytes, SendOptions(.reliableOrdered))
    guard host.isOpen(id),
      (try? page.send(bytes.span, on: Self.channel, options, at: now)) != nil
    else { return }
    _ = try? host.send(bytes.span, on: Self.channel, options, to: id, at: now)
    sent += 1
  }

  private static func number(_ bytes: Span<UInt8>) -> UInt32 {
    var reader = PacketReader(bytes)
    return (try? reader.read(UInt32.self)) ?? .max
  }

  private mutating func isLost() -> Bool { Double.random(in: 0..<1, using: &generator) < loss }

  private mutating func drainPage() {
    repeat {
      while let event = page.pollEvent() {
        switch event {
        case .messages:
          var numbers: [UInt32] = []
          while page.pollMessage({ numbers.append(Self.number($1)) }) {}
          atPage += numbers
        case .measured: break
        default: pageEvents.append(event)
        }
      }
      var datagram: [UInt8] = []
      while page.pollDatagram(at: now, { datagram = Array(copying: $0) }) {
        guard source != nil else { continue }
        datagrams.byPage += 1
        if !isLost() { datagramsToHost.append((now + Self.delay, datagram)) }
      }
      var bytes: [UInt8] = []
      while page.pollTransmit(queued: 0, at: now, { bytes.append(copying: $0) }) {}
      if !bytes.isEmpty, stream != nil { bytesToHost.append((now + Self.delay, bytes)) }
      if page.pollLinkAction() != nil { breakStream() }
    } while page.hasEvents
  }

  private mutating func drainHost() {
    repeat {
      while let event = host.pollEvent() { handle(event) }
      while let reply = host.pollStatelessReply() { sendToPage(reply.bytes, reply.route) }
      while let ready = host.pollReady() {
        var bytes: [UInt8] = []
        while host.pollTransmit(on: ready, queued: 0, at: now, { bytes.append(copying: $0) }) {}
        if !bytes.isEmpty, stream != nil { bytesToPage.append((now + Self.delay, bytes)) }
        if host.pollLinkAction(on: ready) != nil { stream = nil }
        var datagram: [UInt8] = []
        while let route = host.pollDatagram(on: ready, into: &datagram, at: now) {
          sendToPage(datagram, route)
          datagram = []
        }
        host.didFlush(ready, at: now)
      }
    } while host.hasEvents
  }

  /// Sends a datagram to the page, unless its data channel is another one by now.
  private mutating func sendToPage(_ datagram: [UInt8], _ route: Route) {
    datagrams.byHost += 1
    if route == source, !isLost() { datagramsToPage.append((now + Self.delay, datagram)) }
  }

  private mutating func handle(_ event: HostEvent) {
    switch event {
    case .requested(let id, _, _): host.admit(id, at: now)
    case .connection(let id, .opened): self.id = id
    case .connection(let id, .messages):
      var numbers: [UInt32] = []
      while host.pollMessage(on: id, { numbers.append(Self.number($1)) }) {}
      atHost += numbers
    case .adopted(_, let owner): stream = owner
    case .closed(_, _, let reason, _): ended.append(reason)
    default: break
    }
  }
}

struct ClientConnectionTests {
  /// A page that has played for a second on the stream, and for one over datagrams.
  private static func makeWithDatagrams(loss: Double = 0) -> PageAndHost {
    var both = PageAndHost()
    both.openStream()
    both.run(.seconds(1))
    both.loss = loss
    both.openDatagrams(from: 5000)
    #expect(both.usesDatagrams)
    both.run(.seconds(1))
    return both
  }

  /// Sends nothing new for two seconds, in which everything arrives.
  private func expectComplete(_ both: inout PageAndHost) {
    both.isSending = false
    both.run(.seconds(2))
    #expect(both.isComplete && both.sent > 500)
    both.isSending = true
  }

  @Test func `messages move to datagrams when the host answers on them`() {
    var both = Self.makeWithDatagrams()
    #expect(both.pageLink == .datagram && both.hostLink == .datagram)
    #expect(both.pageEvents.contains(.linkChanged(.dataChannel)))
    #expect(both.datagrams.byPage > 100 && both.datagrams.byHost > 100)
    expectComplete(&both)
  }

  @Test(arguments: [0.05, 0.3])
  func `nothing is lost or doubled when a data channel ends, is replaced and ends`(loss: Double) {
    var both = Self.makeWithDatagrams(loss: loss)
    both.closeDatagrams()
    #expect(both.pageLink == .stream)
    let count = both.datagrams.byPage
    both.run(.seconds(2))
    #expect(both.hostLink == .stream && both.datagrams.byPage == count)
    expectComplete(&both)
    // The host knows the path of the connection, which goes on behind another port.
    both.openDatagrams(from: 5001)
    #expect(both.usesDatagrams)
    both.run(.seconds(2))
    #expect(both.pageLink == .datagram && both.hostLink == .datagram)
    both.closeDatagrams()
    both.run(.seconds(1))
    expectComplete(&both)
    #expect(both.ended.isEmpty && !both.pageEvents.contains(.interrupted))
  }

  @Test func `datagrams that no longer arrive move messages to the stream, and back`() {
    var both = Self.makeWithDatagrams()
    both.loss = 1
    both.run(.seconds(2))
    #expect(both.pageLink == .stream && both.hostLink == .stream)
    both.loss = 0
    both.run(.seconds(2))
    #expect(both.pageLink == .datagram && both.hostLink == .datagram)
    expectComplete(&both)
    #expect(!both.pageEvents.contains(.interrupted))
  }

  @Test func `a connection outlives its stream, and is interrupted when both links have ended`() {
    var both = Self.makeWithDatagrams(loss: 0.05)
    both.breakStream()
    both.run(.seconds(3))
    #expect(both.pageLink == .datagram && !both.pageEvents.contains(.interrupted))
    both.closeDatagrams()
    both.run(.milliseconds(2))
    #expect(both.pageLink == nil)
    #expect(both.pageEvents.suffix(2) == [.interrupted, .reconnect])
    both.openStream()
    both.run(.seconds(1))
    #expect(both.pageEvents.contains(.resumed) && both.pageLink == .stream)
    both.openDatagrams(from: 5001)
    #expect(both.usesDatagrams)
    both.run(.seconds(1))
    #expect(both.pageLink == .datagram)
    expectComplete(&both)
  }

  @Test func `a goodbye over datagrams alone reaches the host`() {
    var both = Self.makeWithDatagrams(loss: 0.05)
    both.breakStream()
    both.run(.milliseconds(200))
    both.close()
    both.run(.seconds(1))
    #expect(both.ended == [.left])
  }

  @Test func `a data channel that ends while the connection closes ends the connection`() {
    var both = Self.makeWithDatagrams()
    both.breakStream()
    both.close()
    both.closeDatagrams()
    both.run(.milliseconds(10))
    #expect(both.page.findNextTimeout == nil)
  }

  @Test func `datagrams need a seat, and a host that knows the connection`() throws {
    var both = PageAndHost()
    both.openDatagrams(from: 5000)
    #expect(!both.usesDatagrams)
    both.openStream()
    both.openDatagrams(from: 5000)
    #expect(!both.usesDatagrams)
    both.run(.seconds(1))
    both.closeDatagrams()
    #expect(both.pageLink == .stream)
    // Refused by a host that has never heard of the connection, it stays on the stream.
    both.openDatagrams(from: 5000)
    #expect(both.usesDatagrams)
    both.refuse()
    both.run(.seconds(1))
    #expect(both.pageLink == .stream && !both.pageEvents.contains(.interrupted))
    expectComplete(&both)
  }

  @Test func `what is no datagram of the session changes nothing`() {
    var both = Self.makeWithDatagrams()
    let datagrams: [[UInt8]] = [[], [0x80], [0x81], [0x82, 1], [0x83], [0xFF], [0], [0x40]]
    for bytes in datagrams { both.receive(bytes) }
    #expect(both.pageLink == .datagram)
    expectComplete(&both)
  }
}

extension PageAndHost {
  /// Passes to the page a refusal of its connection, and one of another connection.
  mutating func refuse() {
    for prefix: UInt64 in [9, 1] {
      var writer = FrameWriter(limit: Refusal.maximumLength)
      Refusal(keyPrefix: prefix, reason: Goodbye.Code.forgotten.rawValue).write(to: &writer)
      receive(writer.takeBytes())
    }
  }

  /// Passes a datagram to the page.
  mutating func receive(_ bytes: [UInt8]) { page.receiveDatagram(bytes.span, at: now) }
}

extension ClientConnection {
  /// What `findTimeout` returns, for `#expect`, which cannot contain a mutating call.
  fileprivate var findNextTimeout: Instant? {
    var copy = self
    return copy.findTimeout()
  }
}
