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
    case .noAnswer: "no other host of the fleet answers: ask the matchmaker again"
    }
  }
}
