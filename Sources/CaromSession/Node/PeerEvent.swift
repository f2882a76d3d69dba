import CaromProtocol

/// What happens to the peers of a session.
public enum PeerEvent: Hashable, Sendable {
  /// The peer is connected.
  case joined(Peer)
  /// Messages go by another kind of link from now on; none was lost or doubled.
  case linkChanged(Peer, LinkKind)
  /// No link to the peer works; the connection waits for `SessionTiming.resumeLimit`.
  case interrupted(Peer)
  /// A link works again, and nothing reliable was lost.
  case resumed(Peer)
  /// A watched input has been silent for its limit, or its peer is gone: stop what it steers.
  case inputStopped(Peer, channel: UInt8)
  /// A watched input that had stopped goes on.
  case inputResumed(Peer, channel: UInt8)
  /// The peer is gone, once, with the reason.
  case left(Peer, DisconnectReason)
}
