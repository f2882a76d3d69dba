import CaromCore

/// What the matchmaker wants done.
package enum MatchmakerAction: Hashable, Sendable {
  /// Tell everybody this, from now on.
  case advertise(Sighting.Status, freeSeats: Int)
  /// Connect to this peer and ask for a seat.
  case dial(PeerID)
  /// Give the attempt up, if it is still under way.
  case cancelDial(PeerID)
  /// Answer this peer's request: the seat is its.
  case admit(PeerID)
  /// Answer this peer's request: not here, not now.
  case refuse(PeerID, Goodbye.Code)
}
