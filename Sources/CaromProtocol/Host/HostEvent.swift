/// An event that a host reports to its owner, with the id of the connection that it concerns.
package enum HostEvent: Hashable, Sendable {
  /// A peer requests a seat, and one is reserved for it. If `replacing` is not nil, admitting the
  /// peer closes that connection and gives its seat to the peer.
  case requested(ConnectionID, PeerInfo, replacing: ConnectionID?)
  /// An event that a connection reported, passed on unchanged. Never `requested`, `joining` or
  /// `closed`: the host reports those itself.
  case connection(ConnectionID, ConnectionEvent)
  /// The first connection's stream now belongs to the second connection (`by`): from now on, use
  /// the second connection's id for the stream. The first connection no longer exists.
  case adopted(ConnectionID, by: ConnectionID)
  /// The connection ended; reported once. `wasOpen` is false if it never opened.
  case closed(ConnectionID, PeerInfo?, DisconnectReason, wasOpen: Bool)
}
