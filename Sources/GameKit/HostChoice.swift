/// The choice of the best host among the players of a match, by the costs of their connections.
struct HostChoice: Sendable {
  /// The time within which the players have to answer.
  static let answerTime = Duration.seconds(2)
  /// The time for which a choice is kept, so that all who ask within it get the same answer.
  static let validity = Duration.seconds(10)

  /// The keys of the players that have not answered yet.
  private(set) var missing: Set<String>
  private var costs: [String: UInt32] = [:]

  /// Creates a choice that waits for the answers of these players.
  init(among players: Set<String>) { missing = players }

  /// Whether nobody's answer is missing.
  var isComplete: Bool { missing.isEmpty }

  /// Notes the answer of a player: nil if the player does not know. Ignores a second answer.
  mutating func note(_ cost: UInt32?, of player: String) {
    guard missing.remove(player) != nil else { return }
    costs[player] = cost
  }

  /// Removes a player who has gone.
  mutating func remove(_ player: String) {
    missing.remove(player)
    costs[player] = nil
  }

  /// The player with the lowest cost and, of several, the one with the lowest key; nil if no cost
  /// is known.
  var best: String? { costs.min { ($0.value, $0.key) < ($1.value, $1.key) }?.key }
}
