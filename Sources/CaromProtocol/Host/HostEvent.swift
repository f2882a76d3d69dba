/// An event that a host reports to its owner, with the id of the connection that it concerns.
package enum HostEvent: Hashable, Sendable {
  /// A peer requests a seat, and one is reserved for it. If `replacing` is not nil, admitting the
  /// peer closes that connection and gives its seat to the peer.
  case requested(ConnectionID, PeerInfo, replacing: ConnectionID?)
  /// An event of a connection, passed on as it is. Never `requested`, `joining` or `closed`: the
  /// host reports those itself.
  case connection(ConnectionID, ConnectionEvent)
  /// The stream of the first connection has moved to the connection `by`: use that id for the
  /// stream from now on. The first connection no longer exists.
  case adopted(ConnectionID, by: ConnectionID)
  /// The connection ended; reported once. `wasOpen` is false if it never opened.
  case closed(ConnectionID, PeerInfo?, DisconnectReason, wasOpen: Bool)
}
