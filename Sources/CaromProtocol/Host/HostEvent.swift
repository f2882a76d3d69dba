/// An event that a host reports to its owner, with the id of the connection that it concerns.
package enum HostEvent: Hashable, Sendable {
  /// A peer requests a seat, which is reserved for it. If `replacing` is not nil, admitting the
  /// peer closes that connection and gives its seat to the peer.
  case requested(ConnectionID, PeerInfo, replacing: ConnectionID?)
  /// A peer with a door token asks where its match is. Answer with `close`: the peer gets no seat.
  case asked(ConnectionID, PeerInfo)
  /// Somebody has tried to join with a wrong code.
  case wrongCode(WrongCode)
  /// An event that a connection reported, passed on unchanged. It is never `requested`, `joining`
  /// or `closed`, for which the host has events of its own.
  case connection(ConnectionID, ConnectionEvent)
  /// The stream of the first connection now belongs to the second connection (`by`). Use the second
  /// connection's id for the stream; the first connection no longer exists.
  case adopted(ConnectionID, by: ConnectionID)
  /// The connection ended. The event is reported once; `wasOpen` is false if the connection never
  /// opened.
  case closed(ConnectionID, PeerInfo?, DisconnectReason, wasOpen: Bool)
}
