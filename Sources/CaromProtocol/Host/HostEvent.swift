/// What a host machine tells its owner, and about which link.
package enum HostEvent: Hashable, Sendable {
  /// A peer asks for a seat, and one is free (or `replacing` would give its own up).
  case requested(LinkID, PeerInfo, replacing: LinkID?)
  /// The peer is connected.
  case opened(LinkID, PeerInfo)
  /// Messages came on a link: `pollMessage` hands them out.
  case messages(LinkID)
  case measured(LinkID, RoundTrip)
  /// Something became of a message or a channel.
  case channel(LinkID, ChannelEvent)
  /// Messages go by another kind of link from now on.
  case linkChanged(LinkID, LinkKind)
  /// No link works; the connection waits to be resumed.
  case interrupted(LinkID)
  /// A link works again, and nothing was lost.
  case resumed(LinkID)
  /// This side called: a stream is wanted again.
  case reconnect(LinkID)
  /// The host of a link gave this side a token for the next time.
  case invited(LinkID, JoinToken)
  /// The stream of the first link is a link of the second connection: what it brings and wants
  /// goes under that name from now on, and the first is gone.
  case adopted(LinkID, by: LinkID)
  /// The connection ended; `wasOpen` tells a lost peer from an attempt that came to nothing.
  case closed(LinkID, PeerInfo?, DisconnectReason, wasOpen: Bool)
}
