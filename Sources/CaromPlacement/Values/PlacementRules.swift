/// The times and limits of a fleet. They are the same for every host, directory and player, because
/// a lease is safe only if both of its sides count alike.
package enum PlacementRules {
  /// How long a host counts as alive after the directory has last heard from it.
  package static let lease = Duration.seconds(3)
  /// The interval at which a host renews its lease and sends its matches' checkpoints.
  package static let renewalInterval = Duration.seconds(1)
  /// How long a seat is kept for a player who has not joined yet.
  package static let reservation = Duration.seconds(10)
  /// How long a match that is over, or that has lost its host, can still be found.
  package static let afterlife = Duration.seconds(60)
  /// How long a player hears nothing from its host before it asks the fleet.
  package static let silence = Duration.seconds(2)
  /// The maximum number of doors that a host names to its players.
  package static let doorLimit = 6
  /// How often a host asks which doors there are.
  package static let doorsInterval = Duration.seconds(2)
  /// How often a host asks that knows no other door than itself.
  package static let firstDoorsInterval = Duration.seconds(1)
  /// How often a host gives its players new door tokens, even if the doors are the same.
  package static let doorTokenInterval = Duration.seconds(60)
  /// How long a door token is valid. When a player's host dies, at least two minutes of it are
  /// left: longer than the fleet keeps the match.
  package static let doorTokenLifetime = Duration.seconds(180)
  /// The longest time that a host can be given to find other hosts for its matches.
  package static let patienceLimit = Duration.seconds(86_400)
  /// The maximum number of players in a match.
  package static let playerLimit = 128
  /// The maximum number of matches that a host can have at once.
  package static let matchLimit = 1_024
  /// The maximum number of claims in one answer to a renewal. The answer to the next renewal names
  /// further ones.
  package static let assignmentLimit = 64
  /// The maximum number of regions in one request.
  package static let regionLimit = 8
}
