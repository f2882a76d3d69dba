import CaromPlacement
import CaromSession

/// Why a player cannot go on with a match of a fleet.
public enum FleetMatchError: Error, Hashable, Sendable {
  /// The player has lost its host, and no host of the fleet can go on with the match, for this
  /// reason.
  case refused(PlacementRefusal)
  /// The player has lost its host, and no other host of the fleet has answered for a minute, or the
  /// player knows none: ask the matchmaker.
  case noAnswer
  /// The player's host has ended without another one for the match, and no host of the fleet has
  /// answered for a minute, or the player knows none: ask the matchmaker for another match.
  case hostEnded
  /// The host to which the token leads cannot be joined, for this reason, and the player knows no
  /// other one yet: ask the matchmaker again, which finds another host if that one is gone.
  case notJoined(SessionError)
}

extension FleetMatchError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .refused(let refusal): "the match cannot go on: \(refusal)"
    case .notJoined(let error):
      "the host of the match cannot be joined (\(error)): ask the matchmaker again"
    case .hostEnded:
      "the host has ended, and no other one has taken the match over: ask the matchmaker for "
        + "another match"
    case .noAnswer: "no other host of the fleet answers: ask the matchmaker again"
    }
  }
}
