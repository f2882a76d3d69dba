import CaromCore

/// An event that a lobby reports to its owner.
package enum LobbyEvent: Hashable, Sendable {
  /// An event that the host reported. A lobby with a matchmaker answers `requested` itself and does
  /// not report that event.
  case host(HostEvent)
  /// Publish this status and number of free seats, in place of the previous ones.
  case advertise(Sighting.Status, freeSeats: Int)
  /// Connect to this peer, using this id for the connection. Answer with `handleStreamConnected`,
  /// `connect` or `handleStreamFailed`.
  case connect(PeerID, ConnectionID)
  /// Stop connecting: the connection with this id is no longer needed.
  case cancelConnect(ConnectionID)
}
