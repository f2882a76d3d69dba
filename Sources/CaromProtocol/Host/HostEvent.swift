/// What a host machine tells its owner, and about which link.
package enum HostEvent: Hashable, Sendable {
  /// A peer asks for a seat, and one is free (or `replacing` would give its own up).
  case requested(ConnectionID, PeerInfo, replacing: ConnectionID?)
  /// The peer is connected.
  case opened(ConnectionID, PeerInfo)
  /// Messages came on a link: `pollMessage` hands them out.
  case messages(ConnectionID)
  case measured(ConnectionID, RoundTrip)
  /// Something became of a message or a channel.
  case channel(ConnectionID, ChannelEvent)
  /// Messages go by another kind of link from now on.
  case linkChanged(ConnectionID, LinkKind)
  /// No link works; the connection waits to be resumed.
  case interrupted(ConnectionID)
  /// A link works again, and nothing was lost.
  case resumed(ConnectionID)
  /// This side called: a stream is wanted again.
  case reconnect(ConnectionID)
  /// The host of a link gave this side a token for the next time.
  case invited(ConnectionID, JoinToken)
  /// The stream of the first link is a link of the second connection: what it brings and wants
  /// goes under that name from now on, and the first is gone.
  case adopted(ConnectionID, by: ConnectionID)
  /// The connection ended; `wasOpen` tells a lost peer from an attempt that came to nothing.
  case closed(ConnectionID, PeerInfo?, DisconnectReason, wasOpen: Bool)
}
