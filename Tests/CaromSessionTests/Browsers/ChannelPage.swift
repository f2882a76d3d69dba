import CaromCore
import CaromDataChannel
import CaromProtocol
import CaromTransport

@testable import CaromSession

/// A page that opens a data channel, or somebody who pretends to be one, on virtual time.
final class ChannelPage {
  let endpoint: Endpoint
  let dtls: DTLSSession
  private var association: SCTPAssociation
  private var transaction: UInt64 = 0
  private var buffer = [UInt8](repeating: 0, count: 16_384)
  /// The session's datagrams that have arrived.
  private(set) var received: [[UInt8]] = []

  init(port: UInt16, _ identity: DTLSIdentity) throws {
    endpoint = Endpoint(.loopback4, port: port)
    dtls = try DTLSSession(identity, isClient: true)
    association = SCTPAssociation(
      .initiator, .init(tag: UInt32(port), firstTSN: 1, cookie: 2))
  }

  var isOpen: Bool { association.state == .established }
  /// Whether the host has ended the channel.
  var hasEnded: Bool {
    if case .closed = association.state { return true }
    return dtls.status == .ended
  }

  /// A check, signed with `password` or that of the offer.
  func makeCheck(_ offer: DataChannels.Offer, password: String? = nil) -> [UInt8] {
    transaction += 1
    var writer = STUNWriter()
    let (username, key) = (
      Array("\(offer.name):page".utf8), Array((password ?? offer.password).utf8)
    )
    writer.writeBindingRequest(
      STUN.Transaction(high: UInt32(endpoint.port), low: transaction), username: username.span,
      priority: 1, tieBreaker: 1, isNominating: true, key: key.span)
    return Array(copying: writer.message)
  }

  /// Takes a datagram of the host.
  func receive(_ datagram: Span<UInt8>, at now: Instant) {
    guard !STUN.isMessage(datagram) else { return }
    dtls.receive(datagram, using: &buffer) { record in
      association.receive(record, at: now) { received.append(Array(copying: $0)) }
    }
  }

  func send(_ message: [UInt8], at now: Instant) {
    _ = association.send(message.span, at: now) { dtls.send($0) }
  }

  /// Encrypts bytes that need not be SCTP.
  func sendRecord(_ record: [UInt8]) { dtls.send(record.span) }

  /// Takes the datagrams to the host.
  func takeOutput(at now: Instant) -> [[UInt8]] {
    if dtls.isEstablished { association.pollTransmit(at: now) { dtls.send($0) } }
    var datagrams: [[UInt8]] = []
    dtls.removeOutput { datagrams.append(Array(copying: $0)) }
    return datagrams
  }
}

/// The data channels of a host, and pages, on virtual time.
final class ChannelWorld {
  static let limit = 200
  let channels: DataChannels
  let identity: DTLSIdentity
  var now = Instant.zero + .seconds(100)
  /// The session's datagrams that the host has received, and whence.
  private(set) var delivered: [(bytes: [UInt8], route: Route)] = []
  /// Datagrams that the data channels have left to the session.
  private(set) var leftToSession = 0
  /// What the host has sent to each endpoint.
  private(set) var sent: [(bytes: [UInt8], to: Endpoint)] = []
  private var pages: [ChannelPage] = []

  init(on loop: NetworkLoop) throws {
    channels = try DataChannels(on: loop, limit: Self.limit)
    identity = try DTLSIdentity()
  }

  func makeOffer() -> DataChannels.Offer {
    channels.makeOffer(at: Endpoint(.loopback4, port: 7_777), now)
  }

  /// Makes a page, with which `run` exchanges datagrams.
  func makePage(port: UInt16) throws -> ChannelPage {
    let page = try ChannelPage(port: port, identity)
    pages.append(page)
    return page
  }

  /// The host receives a datagram, and its answers are on their way.
  func send(_ datagram: [UInt8], from source: Endpoint, on socket: Int = 0) {
    let isOfChannel = channels.receive(datagram.span, from: source, on: socket, at: now) {
      bytes, endpoint, _ in
      sent.append((Array(copying: bytes), endpoint))
    } deliver: { bytes, route in
      delivered.append((Array(copying: bytes), route))
    }
    if !isOfChannel { leftToSession += 1 }
  }

  /// Lets the host and a page exchange what they have to say until they are silent.
  func run() {
    var isActive = true
    while isActive {
      isActive = false
      for page in pages {
        for datagram in page.takeOutput(at: now) {
          send(datagram, from: page.endpoint)
          isActive = true
        }
      }
      for (bytes, endpoint) in sent.splitOff() {
        for page in pages where page.endpoint == endpoint { page.receive(bytes.span, at: now) }
        isActive = true
      }
    }
  }

  /// The host receives from another address what a page has to say.
  func send(outputOf page: ChannelPage, from source: Endpoint) {
    for datagram in page.takeOutput(at: now) { send(datagram, from: source) }
  }

  /// Opens a channel for a page.
  func open(_ page: ChannelPage, _ offer: DataChannels.Offer) {
    send(page.makeCheck(offer), from: page.endpoint)
    run()
  }

  /// The session sends a datagram to a page.
  func reply(_ datagram: [UInt8], to page: ChannelPage) {
    channels.send(
      datagram.span, to: Route(throughChannel: page.endpoint, socket: 0), at: now
    ) { bytes, endpoint, _ in sent.append((Array(copying: bytes), endpoint)) }
    run()
  }

  /// Lets time pass, and lets the channel of an offer do what is due.
  func advance(_ offer: DataChannels.Offer, by duration: Duration = .zero) {
    now = now + duration
    channels.handleTimeout(offer.name, at: now) { bytes, endpoint, _ in
      sent.append((Array(copying: bytes), endpoint))
    }
  }

  func closeAll() {
    channels.closeAll(at: now) { bytes, endpoint, _ in
      sent.append((Array(copying: bytes), endpoint))
    }
    run()
  }

  /// The bytes that were sent to an endpoint since the last call of `run`.
  func countBytes(to endpoint: Endpoint) -> Int {
    sent.reduce(0) { $0 + ($1.to == endpoint ? $1.bytes.count : 0) }
  }
}

extension Array {
  /// Removes and returns all elements.
  fileprivate mutating func splitOff() -> Self {
    defer { removeAll() }
    return self
  }
}
