import CaromCore
import CaromDataChannel
import CaromProtocol
import CaromTransport

/// A WebRTC data channel with a page: DTLS over the session's UDP socket, and SCTP above it, whose
/// messages are the session's datagrams (RFC 8831). This is the host's side or, to measure it, the
/// page's.
package final class DataChannel {
  /// The time without a sign of the page, or without use, after which the channel has ended. A
  /// browser checks every few seconds whether the host is still there (RFC 7675 §5.1).
  static let silenceLimit = Duration.seconds(30)
  /// The time that a page has from its first check until a connection of the session uses the
  /// channel.
  static let openingLimit = Duration.seconds(10)
  /// The maximum number of addresses of one page.
  static let addressLimit = 8
  /// The time without a record of the page after which another page may have its address.
  static let takeoverLimit = Duration.seconds(5)
  /// How many bytes of the handshake are sent to a page for each byte that came from it, until it
  /// has shown that it receives them: a check may have a false sender. The first flight takes twice
  /// as many as the ClientHello and one check.
  private static let amplificationLimit = 3

  /// The host's name for the channel, its ICE user fragment, which every check of the page
  /// contains (RFC 8445 §5.3).
  let name: String
  /// The index of the UDP socket at which the page's datagrams arrive.
  let socket: Int
  /// The address to which what is not the session's is sent: that from which the last record came.
  package private(set) var endpoint: Endpoint
  /// The addresses from which checks came. Who has sent a check need not receive at its address.
  private(set) var addresses: [Endpoint]
  /// Those of the addresses that are the page's own: encrypted records have come from there.
  private(set) var owned: [Endpoint] = []
  package private(set) var isOpen = false
  /// Calls `handleTimeout`. Set by the owner.
  var timer: LoopTimer?
  /// The time at which the timer fires; nil if it is not armed.
  private var armedFor: Instant?

  private let opened: Instant
  private var lastReceived: Instant
  private var lastRecord: Instant
  /// When the session last sent data of a connection; nil before.
  private var lastUsed: Instant?
  /// The number of bytes that may be sent before DTLS is established; nil if any, since the page's
  /// side begins.
  private var allowance: Int? = 0
  private var dtls: DTLSSession?
  private var association: SCTPAssociation

  package init(
    _ name: String, from source: Endpoint, on socket: Int = 0, _ association: SCTPAssociation,
    at now: Instant
  ) {
    self.name = name
    self.socket = socket
    self.association = association
    endpoint = source
    addresses = [source]
    (opened, lastReceived, lastRecord) = (now, now, now)
  }

  /// Whether DTLS has begun.
  var hasBegun: Bool { dtls != nil }
  /// Whether nothing can be received or sent any more.
  var hasEnded: Bool {
    if case .closed = association.phase { return true }
    return dtls?.status == .ended
  }

  /// Records a valid check of `length` bytes from `source`. Returns an address that no longer
  /// belongs to the page, because it has too many.
  func recordCheck(_ length: Int, from source: Endpoint, at now: Instant) -> Endpoint? {
    lastReceived = now
    allow(length)
    guard !addresses.contains(source) else { return nil }
    addresses.append(source)
    guard addresses.count > Self.addressLimit else { return nil }
    let oldest = addresses.firstIndex { $0 != endpoint } ?? 0
    let dropped = addresses.remove(at: oldest)
    owned.removeAll { $0 == dropped }
    return dropped
  }

  private func allow(_ length: Int) {
    guard let allowance, dtls?.isEstablished != true else { return }
    self.allowance = allowance + Self.amplificationLimit * length
  }

  /// Whether the page uses `source`, so that no other page can: its records come from there.
  func holds(_ source: Endpoint, at now: Instant) -> Bool {
    owned.contains(source) && now < lastRecord + Self.takeoverLimit
  }

  /// Whether a datagram begins like a record of DTLS (RFC 6347 §4.1). Few data packets of the
  /// session do so as well.
  static func isRecord(_ datagram: Span<UInt8>) -> Bool {
    datagram.count > recordHeader && 20...63 ~= datagram[0] && datagram[1] == 0xFE
      && datagram[2] >= 0xFD
  }

  /// Whether a record of DTLS begins with a ClientHello (RFC 6347 §4.2.2).
  static func isClientHello(_ record: Span<UInt8>) -> Bool {
    record[0] == 22 && record[recordHeader] == 1
  }

  /// The length of the header of a record (RFC 6347 §4.1), in bytes.
  private static let recordHeader = 13

  /// Begins DTLS, of which the host is the server.
  package func begin(
    _ identity: DTLSIdentity, isClient: Bool = false
  ) throws(TransportError) {
    dtls = try DTLSSession(identity, isClient: isClient)
    if isClient { allowance = nil }
  }

  /// Handles a datagram of DTLS from one of the page's addresses. Passes each of the session's
  /// datagrams in it to `deliver`.
  package func receive(
    _ datagram: Span<UInt8>, from source: Endpoint, using buffer: inout [UInt8], at now: Instant,
    _ deliver: (Span<UInt8>) -> Void
  ) {
    guard let dtls else { return }
    let before = isOpen
    allow(datagram.count)
    // The page may begin from another address than that of its first check.
    if !dtls.isEstablished { endpoint = source }
    dtls.receive(datagram, using: &buffer) { record in
      // Only who has the keys can move the channel to another of the page's addresses.
      if endpoint != source || owned.isEmpty { take(source) }
      (lastReceived, lastRecord) = (now, now)
      association.receive(record, at: now, deliver)
    }
    if !before { isOpen = association.phase == .established }
  }

  private func take(_ source: Endpoint) {
    endpoint = source
    if !owned.contains(source) { owned.append(source) }
  }

  /// Sends one of the session's datagrams. Before the channel is open, and if the page cannot take
  /// it now, the datagram is lost.
  package func send(_ datagram: Span<UInt8>, at now: Instant) {
    guard let dtls, datagram.count <= SCTPAssociation.maximumMessageLength else { return }
    if DataHeader.begins(with: datagram[0]) { lastUsed = now }
    _ = association.send(datagram, at: now) { dtls.send($0) }
  }

  /// Ends the channel, and tells the page.
  func close(at now: Instant) {
    association.abort()
    encrypt(at: now)
    dtls?.finish()
  }

  /// Passes what has to be sent to the page at `endpoint` to `send`, and arms the timer.
  package func flush(at now: Instant, _ send: (Span<UInt8>) -> Void) {
    encrypt(at: now)
    dtls?.removeOutput { datagram in
      if let allowance, dtls?.isEstablished != true {
        guard datagram.count <= allowance else { return }
        self.allowance = allowance - datagram.count
      }
      send(datagram)
    }
    rearm(at: now)
  }

  private func encrypt(at now: Instant) {
    guard let dtls, dtls.isEstablished else { return }
    association.pollTransmit(at: now) { dtls.send($0) }
  }

  /// Does what is due. Returns false if the channel has ended, because the page is silent or no
  /// connection uses the channel.
  func handleTimeout(at now: Instant) -> Bool {
    armedFor = nil
    guard now < endDeadline else { return false }
    if dtls?.isEstablished == false { dtls?.handleTimeout() }
    association.handleTimeout(at: now)
    return !hasEnded
  }

  private var endDeadline: Instant {
    guard isOpen, let lastUsed else { return opened + Self.openingLimit }
    return min(lastReceived, lastUsed) + Self.silenceLimit
  }

  /// Arms the timer for what is due next. If that is later than the time for which the timer is
  /// armed, the timer stays as it is: to fire too early and be armed again costs less than to be
  /// moved with each datagram.
  func rearm(at now: Instant) {
    let timeout = association.findTimeout()
    if let armedFor, isOpen {
      // While the channel is open, `endDeadline` never becomes earlier.
      guard let timeout, timeout < armedFor else { return }
    }
    guard let timer else { return }
    var next = min(endDeadline, timeout ?? .distantFuture)
    if let timeout = dtls?.timeout { next = min(next, now + timeout) }
    guard next != armedFor else { return }
    timer.arm(at: next)
    armedFor = next
  }
}
