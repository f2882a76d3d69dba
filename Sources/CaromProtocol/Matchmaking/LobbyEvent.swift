import CaromCore

/// An event that a lobby reports to its owner.
package enum LobbyEvent: Hashable, Sendable {
  /// An event of the lobby's host. A lobby with a matchmaker answers `requested` itself and does
  /// not report it.
  case host(HostEvent)
  /// Publish this status and number of free seats, in place of the previous ones.
  case advertise(Sighting.Status, freeSeats: Int)
  /// Connect to this peer, and use this id for the connection. Answer with `handleStreamConnected`,
  /// `connect` or `handleStreamFailed`.
  case connect(PeerID, ConnectionID)
  /// Stop connecting: the connection with this id is no longer needed.
  case cancelConnect(ConnectionID)
}
