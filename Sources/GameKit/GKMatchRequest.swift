import Foundation

/// The kinds of matches of Apple's framework.
public enum GKMatchType: UInt, Sendable {
  /// All players are connected with each other: the only kind that is offered here.
  case peerToPeer = 0
  /// A server of the game's own connects the players.
  case hosted = 1
  /// The players take turns.
  case turnBased = 2
}

/// What kind of match a player looks for.
///
/// Players find each other if their games, `minPlayers`, `maxPlayers` and `playerGroup` are the
/// same.
open class GKMatchRequest: NSObject,
  @unchecked Sendable  // used on one thread before it is given to a matchmaker, which copies it
{
  /// The maximum number of players of a match.
  private static let playerLimit = 16

  /// The minimum number of players, this one included, at least 2.
  open var minPlayers = 2
  /// The maximum number of players, this one included, at most 16.
  open var maxPlayers = 2
  /// Kept because code sets it; there is no screen that would show it.
  open var defaultNumberOfPlayers = 0
  /// A number that only players who are to meet have in common, such as that of a level.
  open var playerGroup = 0
  /// Kept because code sets it; it does not affect who meets.
  open var playerAttributes: UInt32 = 0
  /// Kept because code sets it; nobody is shown an invitation.
  open var inviteMessage: String?
  /// The players with whom this one plays, who have to look for a match as well; nil for any.
  open var recipients: [GKPlayer]?

  /// The maximum number of players: 16 of matches in which all are connected, and 0 of others,
  /// which are not offered.
  open class func maxPlayersAllowedForMatch(of matchType: GKMatchType) -> Int {
    matchType == .peerToPeer ? playerLimit : 0
  }

  /// The permitted numbers of players; nil if the request is not valid.
  var counts: ClosedRange<Int>? {
    guard minPlayers >= 2, maxPlayers >= minPlayers, maxPlayers <= Self.playerLimit else {
      return nil
    }
    return minPlayers...maxPlayers
  }

  /// The kind of match, as a text. Only players whose texts are equal are put into one match.
  var criteria: String {
    "match \(minPlayers) \(maxPlayers) \(playerGroup) \(GameKitSettings.gameIdentifier)"
  }
}
