import CaromCore
import CaromDataChannel
import CaromTransport

/// A WebRTC data channel with a page: DTLS over the session's UDP socket, and SCTP above it, whose
/// messages are the session's datagrams (RFC 8831). This is the host's side or, to measure it, the
/// page's.
package final class DataChannel {
  /// The time without a sign of the page after which the channel has ended. A browser checks every
  /// few seconds whether the host is still there (RFC 7675 §5.1).
  static let silenceLimit = Duration.seconds(30)
  /// The time that a page has from its first check until the channel is open.
  static let openingLimit = Duration.seconds(10)
  /// The maximum number of addresses of one page.
  static let addressLimit = 8

  /// The host's name for the channel (its ICE user fragment), which every check of the page contains (RFC 8445 §5.3).
  let name: String
  /// The index of the UDP socket at which the page's datagrams arrive.
  let socket: Int
  /// The address from which the page's last record came.
  package private(set) var endpoint: Endpoint
  /// The addresses that the page has proven to be its own.
  private(set) var addresses: [Endpoint]
  package private(set) var isOpen = false
  /// Calls `handleTimeout`. Set by the owner.
  var timer: LoopTimer?

  private let opened: Instant
  private var lastReceived: Instant
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
    (opened, lastReceived) = (now, now)
  }

  /// Whether DTLS has begun.
  var hasBegun: Bool { dtls != nil }
  /// Whether nothing can be received or sent any more.
  var hasEnded: Bool {
    if case .closed = association.state { return true }
    return dtls?.status == .ended
  }

  /// Records a valid check from `source`. Returns an address that no longer belongs to the page,
  /// because it has too many.
  func recordCheck(from source: Endpoint, at now: Instant) -> Endpoint? {
    lastReceived = now
    guard !addresses.contains(source) else { return nil }
    addresses.append(source)
    guard addresses.count > Self.addressLimit else { return nil }
    let oldest = addresses.firstIndex { $0 != endpoint } ?? 0
    return addresses.remove(at: oldest)
  }

  /// Begins DTLS, of which the host is the server.
  package func begin(
    _ identity: DTLSIdentity, isClient: Bool = false
  ) throws(TransportError) {
    dtls = try DTLSSession(identity, isClient: isClient)
  }

  /// Handles a datagram of DTLS from one of the page's addresses. Passes each of the session's
  /// datagrams in it to `deliver`.
  package func receive(
    _ datagram: Span<UInt8>, from source: Endpoint, using buffer: inout [UInt8], at now: Instant,
    _ deliver: (Span<UInt8>) -> Void
  ) {
    guard let dtls else { return }
    let before = isOpen
    dtls.receive(datagram, using: &buffer) { record in
      // Only who has the keys can move the channel to another of the page's addresses.
      endpoint = source
      lastReceived = now
      association.receive(record, at: now, deliver)
    }
    if !before { isOpen = association.state == .established }
  }

  /// Sends one of the session's datagrams. Before the channel is open, and if the page cannot take
  /// it now, the datagram is lost.
  package func send(_ datagram: Span<UInt8>, at now: Instant) {
    guard let dtls, datagram.count <= SCTPAssociation.maximumMessageLength else { return }
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
    dtls?.removeOutput(send)
    rearm(at: now)
  }

  private func encrypt(at now: Instant) {
    guard let dtls, dtls.isEstablished else { return }
    association.pollTransmit(at: now) { dtls.send($0) }
  }

  /// Does what is due. Returns false if the channel has ended, because the page is silent.
  func handleTimeout(at now: Instant) -> Bool {
    guard now < silenceDeadline else { return false }
    if dtls?.isEstablished == false { dtls?.handleTimeout() }
    association.handleTimeout(at: now)
    return !hasEnded
  }

  private var silenceDeadline: Instant {
    isOpen ? lastReceived + Self.silenceLimit : opened + Self.openingLimit
  }

  /// Arms the timer for what is due next.
  func rearm(at now: Instant) {
    var next = silenceDeadline
    if let timeout = association.findTimeout() { next = min(next, timeout) }
    if let timeout = dtls?.timeout { next = min(next, now + timeout) }
    // A timer that fires too early arms itself again, which is cheaper than to move it each time.
    if let deadline = timer?.deadline, deadline <= next { return }
    timer?.arm(at: next)
  }
}
