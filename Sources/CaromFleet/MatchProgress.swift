import CaromCore

/// Where a player is with a match of a fleet, to be shown while nothing else is.
public enum MatchProgress: Hashable, Sendable {
  /// The player joins a host, at the first of these endpoints that answers.
  case joining([Endpoint])
  /// The player is at a host, whose session and `Peer` the closure of `Session.joinMatch` gets.
  case joined
  /// Nothing is heard from the host, or it is gone: the player asks the other hosts of the fleet
  /// where the match is. `joined` follows if the host is heard again.
  case looking
  /// The host has ended without another one for the match, because none had room or it was not
  /// drained: the player asks the other hosts, one of which may take the match over.
  case hostEnded
}

extension MatchProgress: CustomStringConvertible {
  /// A line for players.
  public var description: String {
    switch self {
    case .joining: "joining the match"
    case .joined: "in the match"
    case .looking: "looking for the match"
    case .hostEnded: "the host has ended: looking for another one for the match"
    }
  }
}
