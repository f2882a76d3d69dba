import CaromCore

/// What a connection tells its owner.
package enum ConnectionEvent: Hashable, Sendable {
  /// The other side asks for a seat; `admit` or `refuse` answers it.
  case requested(PeerInfo)
  /// The stream is one more of a connection that is open, and whose key it says.
  case joining
  /// Both sides agreed: messages flow from here on.
  case opened(PeerInfo)
  /// Messages of the application came: `pollMessage` hands them out.
  case messages
  /// Something became of a message or a channel.
  case channel(ChannelEvent)
  /// Messages go by another link from now on.
  case linkChanged(LinkKind)
  /// No link works; the connection waits to be resumed.
  case interrupted
  /// A link works again, and nothing was lost.
  case resumed
  /// Whoever called opens a stream again.
  case reconnect
  /// The round trip was measured anew.
  case measured(RoundTrip)
  /// The host gave this side a token for the next time.
  case invited(JoinToken)
  /// The end, told once, and nothing comes after it.
  case closed(DisconnectReason)
}

/// How a link under a connection ended.
package enum LinkEnd: Hashable, Sendable {
  /// The other end closed its side in order.
  case ended
  /// The other end, or something on the way, reset it.
  case reset
  /// The local system gave it up after it had tried for long enough.
  case timedOut
}

/// What the shell is to do with a link.
package enum LinkAction: Hashable, Sendable {
  /// Close it when what was handed over has left.
  case closeAfterFlush
  /// Cut it now.
  case cut
}
