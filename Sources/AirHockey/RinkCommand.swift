/// A player's command, carried out between two ticks.
public enum RinkCommand: Hashable, Sendable {
  /// Pauses the match on behalf of a seat.
  case pause(Seat)
  /// Ends the pause of a seat. A pause of the other seat remains.
  case resume(Seat)
  /// Starts the next match on behalf of a seat. This command has no effect unless the match has
  /// ended.
  case startMatch(Seat)
}
