import CaromProtocol

/// An event that concerns one peer of a session.
public enum PeerEvent: Hashable, Sendable {
  /// The peer has connected.
  case joined(Peer)
  /// Messages now use another kind of link. No message was lost or duplicated by the change.
  case linkChanged(Peer, LinkKind)
  /// No link to the peer works. The connection can be resumed within `SessionTiming.resumeLimit`.
  case interrupted(Peer)
  /// An interrupted connection works again, and no reliable message was lost.
  case resumed(Peer)
  /// A watched input has been silent for its limit, or its peer has disconnected: stop whatever
  /// the input controls.
  case inputStopped(Peer, channel: UInt8)
  /// Messages of a watched input that had stopped arrive again.
  case inputResumed(Peer, channel: UInt8)
  /// The peer has disconnected. Reported exactly once for each peer that joined.
  case left(Peer, DisconnectReason)
}
