/// What a player may ask of the match beside moving the mallet; each takes effect between two
/// ticks, before the step that follows.
public enum RinkCommand: Hashable, Sendable {
  /// The seat holds the match.
  case pause(Seat)
  /// The seat no longer holds it; the other seat's hold stays.
  case resume(Seat)
  /// The seat wants the next match; it does nothing unless a match is over.
  case startMatch(Seat)

  /// Whose command it is.
  public var owner: Seat {
    switch self {
    case .pause(let seat), .resume(let seat), .startMatch(let seat): seat
    }
  }

  /// The same command by the other seat.
  public var mirrored: RinkCommand {
    switch self {
    case .pause(let seat): .pause(seat.opponent)
    case .resume(let seat): .resume(seat.opponent)
    case .startMatch(let seat): .startMatch(seat.opponent)
    }
  }
}
