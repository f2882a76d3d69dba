/// A command of a player that is carried out between two ticks.
public enum RinkCommand: Hashable, Sendable {
  /// Pauses the match on behalf of a seat.
  case pause(Seat)
  /// Ends the pause of a seat. A pause of the other seat remains.
  case resume(Seat)
  /// Starts the next match on behalf of a seat. It has no effect unless the match has ended.
  case startMatch(Seat)
}
