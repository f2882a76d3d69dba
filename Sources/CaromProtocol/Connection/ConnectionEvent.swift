import CaromCore

/// An event that a connection reports to its owner.
package enum ConnectionEvent: Hashable, Sendable {
  /// The peer requests a seat. Answer with `admit` or `close`.
  case requested(PeerInfo)
  /// The peer has tried to prove that it knows the host's code. Answer with `acceptAttempt` or
  /// `refuseAttempt`.
  case attempted(isRight: Bool)
  /// The peer has begun the stream's handshake with a key of this side, which takes more public-key
  /// operations than any other handshake without a code.
  case beganWithKnownKey
  /// The peer has presented a connect token on the stream. Answer with `handle(_:at:)`.
  case presented
  /// The peer asks to join this connection's stream to the open connection that has the same key.
  case joining
  /// The seat was granted. Messages can now be sent and received.
  case opened(PeerInfo)
  /// Application messages have arrived; read them with `pollMessage`.
  case messages
  /// A message was delivered or dropped, or the send queue has space again.
  case channel(ChannelEvent)
  /// The link that carries the messages has changed to the given one.
  case linkChanged(LinkKind)
  /// No link carries the connection. It waits to be resumed.
  case interrupted
  /// A link carries the connection again, and no reliable message was lost.
  case resumed
  /// The owner should open a new stream, unless it is already doing so, because the connection was
  /// interrupted and this side initiated it. The event is repeated until the connection has a
  /// stream or is resumed.
  case reconnect
  /// A ping was answered; the value is the updated measurement.
  case measured(RoundTrip)
  /// The host has issued a token with which this side can reconnect faster.
  case invited(JoinToken)
  /// The connection has ended. No further events follow, not even receipts for messages that may
  /// still reach the peer before the goodbye does.
  case closed(DisconnectReason)
}

/// The ways in which the stream that carries a connection ends.
package enum LinkEnd: Hashable, Sendable {
  /// The peer closed its side of the stream in an orderly way.
  case ended
  /// The peer, or something on the path, reset the stream.
  case reset
  /// The local system gave up retransmitting because no acknowledgement arrived from the peer.
  case timedOut
}

/// The actions that a connection asks its owner to perform on the stream.
package enum LinkAction: Hashable, Sendable {
  /// Close the stream once everything written to it has been sent.
  case closeAfterFlush
  /// Close the stream immediately.
  case cut
}
