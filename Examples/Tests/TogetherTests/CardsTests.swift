import Carom
import Testing

@testable import Together

/// The rules of the card game, one by one. The players are numbers; the first one is the judge.
@Suite struct CardsTests {
  private static func id(_ number: Int) -> PeerID { PeerID(high: 0, low: UInt64(number)) }

  /// A game in which all have sat down.
  private func makeGame(_ seats: Int = 4) -> Cards {
    var cards = Cards(seats: seats)
    for number in 0..<seats { cards.apply(.sit(name: "\(number)"), by: Self.id(number)) }
    return cards
  }

  /// Every player but the judge plays their first card.
  private func playAll(_ cards: inout Cards) {
    for player in cards.players where player.id != cards.judge {
      cards.apply(.play(card: player.hand[0], round: cards.round), by: player.id)
    }
  }

  @Test func `the game begins when all seats are taken, and everyone has five different cards`() {
    var cards = Cards(seats: 3)
    for number in [0, 1, 1, 0] { cards.apply(.sit(name: "\(number)"), by: Self.id(number)) }
    #expect(cards.players.map(\.name) == ["0", "1"])
    #expect(!cards.hasBegun)
    cards.apply(.sit(name: "2"), by: Self.id(2))
    cards.apply(.sit(name: "3"), by: Self.id(3))
    #expect(cards.hasBegun)
    #expect(cards.players.map(\.name) == ["0", "1", "2"])
    #expect(cards.players.allSatisfy { $0.hand.count == Cards.handSize })
    #expect(Set(cards.players.flatMap(\.hand)).count == 3 * Cards.handSize)
    #expect(cards.judge == Self.id(0))
  }

  @Test func `nobody plays before the game begins`() {
    var cards = Cards(seats: 2)
    cards.apply(.sit(name: "0"), by: Self.id(0))
    let before = cards.players
    cards.apply(.play(card: 193, round: 0), by: Self.id(0))
    cards.apply(.choose(Self.id(0), round: 0), by: Self.id(0))
    #expect(cards.players == before)
  }

  @Test func `a player plays one card of their own hand in each round, and the judge none`() {
    var cards = makeGame()
    let (first, second) = (cards.players[1].hand[0], cards.players[1].hand[1])
    let foreign = cards.players[2].hand[0]
    cards.apply(.play(card: foreign, round: 0), by: Self.id(1))
    cards.apply(.play(card: cards.players[0].hand[0], round: 0), by: Self.id(0))
    cards.apply(.play(card: first, round: 1), by: Self.id(1))
    cards.apply(.play(card: first, round: 0), by: Self.id(9))
    #expect(cards.players.allSatisfy { $0.played == nil && $0.hand.count == 5 })
    cards.apply(.play(card: first, round: 0), by: Self.id(1))
    cards.apply(.play(card: second, round: 0), by: Self.id(1))
    #expect(cards.players[1].played == first)
    #expect(cards.players[1].hand.count == 4)
  }

  @Test func `the judge alone gives the point, of this round, once all have played`() {
    var cards = makeGame()
    cards.apply(.play(card: cards.players[1].hand[0], round: 0), by: Self.id(1))
    cards.apply(.choose(Self.id(1), round: 0), by: Self.id(0))
    #expect(cards.round == 0)
    playAll(&cards)
    #expect(cards.isJudging)
    cards.apply(.choose(Self.id(1), round: 0), by: Self.id(1))
    cards.apply(.choose(Self.id(1), round: 1), by: Self.id(0))
    cards.apply(.choose(Self.id(0), round: 0), by: Self.id(0))
    cards.apply(.choose(Self.id(9), round: 0), by: Self.id(0))
    #expect(cards.players.allSatisfy { $0.points == 0 })
    cards.apply(.choose(Self.id(2), round: 0), by: Self.id(0))
    cards.apply(.choose(Self.id(2), round: 0), by: Self.id(0))
    #expect(cards.players.map(\.points) == [0, 0, 1, 0])
  }

  @Test func `after a point the next player is the judge, and hands are full again`() {
    var cards = makeGame()
    for round in 0..<5 {
      #expect(cards.judge == Self.id(round % 4))
      #expect(cards.round == round)
      playAll(&cards)
      let others = cards.players.map(\.id).filter { $0 != cards.judge }
      cards.apply(.choose(others[round % 3], round: round), by: Self.id(round % 4))
      #expect(cards.players.allSatisfy { $0.played == nil && $0.hand.count == 5 })
    }
  }

  @Test func `the first with three points wins, and the game is over`() {
    var cards = makeGame()
    while cards.winner == nil {
      playAll(&cards)
      let favorite = cards.judge == Self.id(3) ? Self.id(2) : Self.id(3)
      cards.apply(.choose(favorite, round: cards.round), by: cards.judge ?? Self.id(9))
    }
    #expect(cards.winner == "3")
    #expect(cards.players[3].points == Cards.goal)
    let (players, round) = (cards.players, cards.round)
    playAll(&cards)
    for number in 0..<3 { cards.apply(.left(Self.id(3)), by: Self.id(number)) }
    #expect(cards.players == players)
    #expect(cards.round == round)
  }

  @Test func `a player is removed when more than half of the others no longer see them`() {
    var cards = makeGame(5)
    cards.apply(.left(Self.id(4)), by: Self.id(1))
    cards.apply(.left(Self.id(4)), by: Self.id(1))
    cards.apply(.left(Self.id(4)), by: Self.id(4))
    cards.apply(.left(Self.id(4)), by: Self.id(9))
    cards.apply(.left(Self.id(9)), by: Self.id(1))
    cards.apply(.left(Self.id(4)), by: Self.id(2))
    #expect(cards.players.count == 5)
    cards.apply(.left(Self.id(4)), by: Self.id(3))
    #expect(cards.players.map(\.name) == ["0", "1", "2", "3"])
  }

  @Test func `when the judge leaves, the cards go back and the next player is the judge`() {
    var cards = makeGame()
    let hands = cards.players.map { Set($0.hand) }
    playAll(&cards)
    for number in 1...2 { cards.apply(.left(Self.id(0)), by: Self.id(number)) }
    #expect(cards.judge == Self.id(1))
    #expect(cards.round == 1)
    #expect(cards.players.map { Set($0.hand) } == Array(hands.dropFirst()))
    #expect(cards.players.allSatisfy { $0.played == nil })
  }

  @Test func `when another player leaves, the judge and the round stay`() {
    var cards = makeGame()
    playAll(&cards)
    cards.apply(.choose(Self.id(1), round: 0), by: Self.id(0))
    #expect(cards.judge == Self.id(1))
    playAll(&cards)
    for number in 1...2 { cards.apply(.left(Self.id(0)), by: Self.id(number)) }
    #expect(cards.judge == Self.id(1))
    #expect(cards.round == 1)
    #expect(cards.isJudging)
  }

  @Test func `a judge in the last seat who leaves is followed by the first player`() {
    var cards = makeGame()
    for round in 0..<3 {
      playAll(&cards)
      cards.apply(.choose(Self.id((round + 1) % 4), round: round), by: Self.id(round))
    }
    #expect(cards.judge == Self.id(3))
    for number in 0...1 { cards.apply(.left(Self.id(3)), by: Self.id(number)) }
    #expect(cards.judge == Self.id(0))
  }

  @Test func `fewer than three cannot play on: the one with the most points has won`() {
    var cards = makeGame(3)
    playAll(&cards)
    cards.apply(.choose(Self.id(1), round: 0), by: Self.id(0))
    for number in 0...1 { cards.apply(.left(Self.id(2)), by: Self.id(number)) }
    #expect(cards.winner == "1")
  }

  @Test func `before the game, the seat of a player who leaves is free again`() {
    var cards = Cards(seats: 3)
    for number in 0..<2 { cards.apply(.sit(name: "\(number)"), by: Self.id(number)) }
    cards.apply(.left(Self.id(0)), by: Self.id(1))
    #expect(cards.players.map(\.name) == ["1"])
    for number in 2..<4 { cards.apply(.sit(name: "\(number)"), by: Self.id(number)) }
    #expect(cards.hasBegun)
    #expect(cards.judge == Self.id(1))
  }

  @Test func `a simple player plays the highest card, and judges in favor of the highest`() {
    var cards = makeGame()
    #expect(cards.move(of: Self.id(0), named: "0") == nil)
    for number in 1..<4 {
      let highest = cards.players[number].hand.max() ?? 0
      #expect(cards.move(of: Self.id(number), named: "\(number)") == .play(card: highest, round: 0))
      cards.apply(.play(card: highest, round: 0), by: Self.id(number))
      #expect(cards.move(of: Self.id(number), named: "\(number)") == nil)
    }
    let best = cards.players.max { ($0.played ?? 0) < ($1.played ?? 0) }?.id
    #expect(cards.move(of: Self.id(0), named: "0") == best.map { .choose($0, round: 0) })
    #expect(cards.move(of: Self.id(9), named: "9") == nil)
  }

  @Test func `a player who is taken for one who has left sits down again before the game`() {
    var cards = Cards(seats: 3)
    #expect(cards.move(of: Self.id(0), named: "0") == .sit(name: "0"))
    for number in 0..<2 { cards.apply(.sit(name: "\(number)"), by: Self.id(number)) }
    #expect(cards.move(of: Self.id(0), named: "0") == nil)
    cards.apply(.left(Self.id(0)), by: Self.id(1))
    #expect(cards.move(of: Self.id(0), named: "0") == .sit(name: "0"))
  }
}
