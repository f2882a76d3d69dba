/// The timeouts and intervals of the session protocol.
public struct SessionTiming: Hashable, Sendable {
  /// The time that each side of a new link waits for the other side's part of the handshake.
  public var handshakeLimit = Duration.seconds(10)
  /// The time without data from the peer after which the connection is interrupted or closed. A
  /// ping or its answer arrives every second, so by default four of them may be lost, and a cut
  /// cable is reported within 5 s.
  public var silenceLimit = Duration.seconds(4)
  /// The interval between pings after the first `firstPings`. While pings arrive, the side that was
  /// connected to sends its own at four times this interval.
  public var pingInterval = Duration.seconds(1)
  /// The interval between the first pings, which measure the round-trip time and the clock offset.
  public var firstPingInterval = Duration.milliseconds(100)
  /// The number of pings that are sent at `firstPingInterval`.
  public var firstPings = 8
  /// The time that closing may take, from the request to close until all earlier messages are
  /// acknowledged and the goodbye is sent. After this time, the link is cut.
  public var closeLimit = Duration.seconds(1)

  /// The time for which a connection without a working link waits to be resumed. The wait begins
  /// when the last link ends, or when `silenceLimit` has passed without data from the peer. During
  /// the wait, the peer keeps its seat, and reliable messages to it stay queued. If the limit is
  /// zero, the connection is closed immediately.
  public var resumeLimit = Duration.seconds(10)

  /// The time for which a peer may read nothing while the send queue to it is full. After this
  /// time, the peer is disconnected with the reason `tooSlow`. If the limit is nil, a peer that
  /// stops reading its messages stays connected, and senders that wait for room in the queue keep
  /// waiting.
  public var fullQueueLimit: Duration? = .seconds(30)

  /// Creates the default timing.
  public init() {}
}

/// What all connections of a host share: the host's own description, its timing, and how its links
/// are secured.
package final class LocalSide: Sendable {
  package let peer: PeerInfo
  package let timing: SessionTiming
  /// How the links are encrypted; nil if they are in plaintext.
  let security: LinkSecurity?
  /// Whether all links must be streams that are encrypted below the session, for example by TLS.
  let requiresSealedStreams: Bool
  /// Whether peers have no keys, but are among others that have: the id that such a peer sends is
  /// its secret, from which its id is made. So it cannot take the id of another peer.
  let derivesIDs: Bool
  /// Whether a peer that requests a seat must have shown the join code below the session.
  let requiresCode: Bool
  /// The number of bytes, at most 32, that the shell adds to each datagram for a proxy.
  let routingLength: UInt8

  /// Creates the shared part of a host's connections. If `security` has an identity, the id of that
  /// identity replaces the id in `peer`.
  package init(
    _ peer: PeerInfo, timing: SessionTiming = SessionTiming(), security: LinkSecurity? = nil,
    requiresSealedStreams: Bool = false, derivesIDs: Bool = false, requiresCode: Bool = false,
    routingLength: UInt8 = 0
  ) {
    precondition(
      security == nil || !requiresSealedStreams, "links are encrypted by the session or below it")
    var peer = peer
    if let id = security?.identity?.id { peer.id = id }
    self.peer = peer
    self.timing = timing
    self.security = security
    self.requiresSealedStreams = requiresSealedStreams
    self.derivesIDs = derivesIDs
    self.requiresCode = requiresCode
    self.routingLength = routingLength
  }

  /// Returns this side for streams that are encrypted below the session, in place of its own
  /// encryption; nil if it does not accept such peers, which prove no key and have no connect
  /// token.
  func makeSealedSide() -> LocalSide? {
    guard !requiresSealedStreams else { return self }
    guard let security else { return LocalSide(peer, timing: timing, requiresSealedStreams: true) }
    guard security.acceptsPeersWithoutKeys else { return nil }
    return LocalSide(
      peer, timing: timing, requiresSealedStreams: true, derivesIDs: true,
      requiresCode: security.usesCode)
  }
}
