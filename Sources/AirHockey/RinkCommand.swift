/// What a player may ask of the match beside moving the mallet; each takes effect between two
/// ticks, before the step that follows.
public enum RinkCommand: Hashable, Sendable {
  /// The seat holds the match.
  case pause(Seat)
  /// The seat no longer holds it; the other seat's hold stays.
  case resume(Seat)
  /// The seat wants the next match; it does nothing unless a match is over.
  case startMatch(Seat)
}
