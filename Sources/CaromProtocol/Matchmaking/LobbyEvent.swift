import CaromCore

/// What a lobby tells its owner.
package enum LobbyEvent: Hashable, Sendable {
  /// What the host machine tells; a lobby that matches players answers `requested` itself.
  case host(HostEvent)
  /// Tell everybody this, from now on.
  case advertise(Sighting.Status, freeSeats: Int)
  /// Open a link to this peer; `handleConnected` or `handleConnectFailed` answers.
  case connect(PeerID, ConnectionID)
  /// The link that is being opened is wanted no more.
  case cancelConnect(ConnectionID)
}
