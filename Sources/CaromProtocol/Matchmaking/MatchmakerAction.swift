import CaromCore

/// An action that a matchmaker asks its owner to perform.
package enum MatchmakerAction: Hashable, Sendable {
  /// Publish this status and number of free seats, in place of the previous ones.
  case advertise(Sighting.Status, freeSeats: Int)
  /// Connect to this peer and request a seat.
  case dial(PeerID)
  /// Cancel the connection attempt to this peer, if it is still in progress.
  case cancelDial(PeerID)
  /// Grant this peer the seat that it requested.
  case admit(PeerID)
  /// Decline this peer's request for a seat with this code.
  case refuse(PeerID, Goodbye.Code)
}
