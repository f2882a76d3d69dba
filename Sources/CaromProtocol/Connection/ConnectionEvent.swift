import CaromCore

/// An event that a connection reports to its owner.
package enum ConnectionEvent: Hashable, Sendable {
  /// The peer requests a seat. Answer with `admit` or `close`.
  case requested(PeerInfo)
  /// The stream belongs to an open connection that has the same key.
  case joining
  /// The seat was granted. Messages can now be sent and received.
  case opened(PeerInfo)
  /// Messages of the application have arrived; read them with `pollMessage`.
  case messages
  /// A message was delivered or dropped, or the send queue has space again.
  case channel(ChannelEvent)
  /// Messages are now carried by another link.
  case linkChanged(LinkKind)
  /// No link works any longer. The connection waits to be resumed.
  case interrupted
  /// A link works again, and nothing was lost.
  case resumed
  /// This side initiated the connection and should open a new stream.
  case reconnect
  /// A ping was answered; the value is the updated measurement.
  case measured(RoundTrip)
  /// The host has issued a token with which this side can reconnect faster.
  case invited(JoinToken)
  /// The connection has ended. No event follows.
  case closed(DisconnectReason)
}

/// The ways in which a stream below a connection ends.
package enum LinkEnd: Hashable, Sendable {
  /// The peer closed its side of the stream in order.
  case ended
  /// The peer, or something on the path, reset the stream.
  case reset
  /// The local system gave up retransmitting.
  case timedOut
}

/// The actions that a connection asks its owner to perform on the stream.
package enum LinkAction: Hashable, Sendable {
  /// Close the stream after everything written to it was sent.
  case closeAfterFlush
  /// Close the stream immediately.
  case cut
}
