import Carom

/// A card game with a judge in each round: all others play a card, the judge chooses the best one,
/// and its owner gets a point. The first player with three points wins.
///
/// The rules are in `apply`: whatever the players submit, and in whatever order, all of them see
/// the same game. A player who leaves is removed, in the middle of a round too.
struct Cards: ReplicatedState {
  enum Event: Codable, Hashable, Sendable {
    /// The sender sits down.
    case sit(name: String)
    /// The sender plays a card from their hand.
    case play(card: Int, round: Int)
    /// The sender, who is the judge, gives a player the point.
    case choose(PeerID, round: Int)
    /// The sender no longer sees a player. The player is removed when more than half of the others
    /// say so: nobody can do it alone.
    case left(PeerID)
  }

  struct Player: Codable, Hashable, Sendable {
    let id: PeerID
    let name: String
    var hand: [Int] = []
    var points = 0
    var played: Int?
    /// The players who no longer see this one.
    var missedBy: [PeerID] = []
  }

  static let handSize = 5
  static let goal = 3

  /// The number of players; the game begins when all of them sit.
  let seats: Int
  private(set) var players: [Player] = []
  private(set) var hasBegun = false
  private(set) var round = 0
  private(set) var winner: String?
  private var judgeIndex = 0
  private var cardsDealt = 0

  init(seats: Int) { self.seats = seats }

  var judge: PeerID? { players.isEmpty ? nil : players[judgeIndex].id }

  /// Whether everyone but the judge has played.
  var isJudging: Bool { players.allSatisfy { $0.played != nil || $0.id == judge } }

  mutating func apply(_ event: Event, _ entry: LedgerEntry) { apply(event, by: entry.submitter) }

  /// Applies what a peer has submitted. What the rules forbid changes nothing.
  mutating func apply(_ event: Event, by submitter: PeerID) {
    guard winner == nil else { return }
    switch event {
    case .sit(let name): sit(submitter, name)
    case .play(let card, let round): if round == self.round { play(card, by: submitter) }
    case .choose(let player, let round):
      if round == self.round, submitter == judge { choose(player) }
    case .left(let player): miss(player, by: submitter)
    }
  }

  private mutating func miss(_ id: PeerID, by witness: PeerID) {
    guard id != witness, players.contains(where: { $0.id == witness }),
      let player = players.firstIndex(where: { $0.id == id }),
      !players[player].missedBy.contains(witness)
    else { return }
    players[player].missedBy.append(witness)
    if players[player].missedBy.count * 2 > players.count - 1 { remove(id) }
  }

  private mutating func sit(_ id: PeerID, _ name: String) {
    guard !hasBegun, !players.contains(where: { $0.id == id }) else { return }
    players.append(Player(id: id, name: name))
    hasBegun = players.count == seats
    if hasBegun { deal() }
  }

  private mutating func play(_ card: Int, by id: PeerID) {
    guard hasBegun, id != judge, let player = players.firstIndex(where: { $0.id == id }),
      players[player].played == nil, let index = players[player].hand.firstIndex(of: card)
    else { return }
    players[player].hand.remove(at: index)
    players[player].played = card
  }

  private mutating func choose(_ id: PeerID) {
    guard isJudging, let player = players.firstIndex(where: { $0.id == id && $0.played != nil })
    else { return }
    players[player].points += 1
    if players[player].points == Self.goal { winner = players[player].name }
    judgeIndex = (judgeIndex + 1) % players.count
    for player in players.indices { players[player].played = nil }
    beginRound()
  }

  private mutating func remove(_ id: PeerID) {
    guard let player = players.firstIndex(where: { $0.id == id }) else { return }
    let wasJudge = player == judgeIndex
    players.remove(at: player)
    // Before the game, the seat is free again.
    guard hasBegun else { return }
    if player < judgeIndex { judgeIndex -= 1 }
    judgeIndex %= max(players.count, 1)
    if players.count < 3 { return winner = players.max { $0.points < $1.points }?.name }
    guard wasJudge else { return }
    // Nobody can choose any more: the cards go back, and the next player is the judge.
    for player in players.indices {
      if let card = players[player].played { players[player].hand.append(card) }
      players[player].played = nil
    }
    beginRound()
  }

  private mutating func beginRound() {
    round += 1
    deal()
  }

  /// Fills the hands. The cards are numbers that look shuffled, the same for everyone.
  private mutating func deal() {
    for player in players.indices {
      while players[player].hand.count < Self.handSize {
        cardsDealt += 1
        players[player].hand.append(cardsDealt * 193 % 1009)
      }
    }
  }
}

extension Cards {
  /// What a simple player does next: sits down, plays their highest card or, as the judge, chooses
  /// the highest one. Nil if it is not their turn.
  func move(of id: PeerID, named name: String) -> Event? {
    guard let player = players.first(where: { $0.id == id }) else {
      return hasBegun ? nil : .sit(name: name)
    }
    guard hasBegun, winner == nil else { return nil }
    if id == judge {
      guard isJudging else { return nil }
      let best = players.filter { $0.id != id }.max { ($0.played ?? 0) < ($1.played ?? 0) }
      return best.map { .choose($0.id, round: round) }
    }
    guard player.played == nil, let card = player.hand.max() else { return nil }
    return .play(card: card, round: round)
  }
}

/// Plays with the other peers of a session until somebody wins, and returns the game as it is then.
/// If `limit` is not nil, leaves at the beginning of that round.
///
/// Each peer begins in a group of its own, and the groups that meet become one. Until then, a player
/// who is missing from the roster may only not have arrived yet. So everybody sits down when the
/// roster has all of them: from then on, a player who is missing has left.
func playCards(
  in nearby: NearbySession, seats: Int, leavingInRound limit: Int? = nil
) async throws -> Cards {
  let me = nearby.local
  return try await nearby.session.withGroup(Cards(seats: seats)) { group in
    var everyoneIsHere = false
    var lastMove: Cards.Event?
    for await change in group.changes {
      let cards = await group.state
      if cards.winner != nil || cards.round >= limit ?? .max { return cards }
      if case .roster(let roster) = change {
        if roster.members.count >= seats { everyoneIsHere = true }
        // Whoever lost the connection and has it again was removed, and has to sit down once more.
        lastMove = nil
        for player in cards.players where !roster.contains(player.id) {
          try await group.submit(.left(player.id))
        }
      }
      let move = everyoneIsHere ? cards.move(of: me.id, named: me.name) : nil
      if let move, move != lastMove { try await group.submit(move) }
      lastMove = move
    }
    // The changes have ended: `withGroup` throws the reason if the group has failed.
    throw CancellationError()
  }
}
