import CaromPhysics
import Testing

@testable import AirHockey

@Test func `ten thousand ticks of two computer players have a fixed hash`() {
  var match = makeMatch(seed: 7, home: .medium, away: .hard)
  var goals = 0
  for _ in 0..<10_000 {
    let events = match.step()
    goals += events.goal == nil ? 0 : 1
    if events.winner != nil { match.rink.startMatch() }
  }
  // Checks that the match was in play.
  #expect(goals > 5)
  #expect(match.rink.state.tick.rawValue == 10_000)
  // The hash is the same in every build and on every machine. Changes of the physics or of the
  // computer player change it.
  #expect(match.rink.hash == 16_154_162_681_134_075_940)
}

@Test func `a hard player beats an easy one in three of four matches`() {
  var wins = 0
  let count = scaled(debug: 4, release: 20)
  for seed in 0..<UInt64(count) {
    // The players change sides after each match.
    let isHome = seed % 2 == 0
    var match = makeMatch(
      seed: seed, home: isHome ? .hard : .easy, away: isHome ? .easy : .hard)
    if match.playToEnd(limit: 36_000) == (isHome ? .home : .away) { wins += 1 }
  }
  #expect(wins * 4 >= count * 3)
}

/// Goals of a computer player in two minutes, and of an opponent whose mallet never moves.
private func goals(of strength: Strength, seed: UInt64) -> (own: Int, opponent: Int) {
  var rink = Rink()
  var player = ComputerPlayer(.home, strength: strength, seed: seed)
  var goals = (own: 0, opponent: 0)
  for _ in 0..<120 * Int(Preset.ticksPerSecond) {
    let still = MalletInput(rink.state.awayMallet.vector)
    let events = rink.step(home: player.input(for: rink.state), away: still)
    if events.goal == .home { goals.own += 1 }
    if events.goal == .away { goals.opponent += 1 }
    if events.winner != nil { rink.startMatch() }
  }
  return goals
}

@Test(arguments: [(Strength.medium, 4), (.hard, 8)])
func `a player who does not move loses by far to a medium and a hard computer`(
  strength: Strength, factor: Int
) {
  var sum = (own: 0, opponent: 0)
  let seeds = scaled(debug: 20, release: 40)
  for seed in 0..<UInt64(seeds) {
    let goals = goals(of: strength, seed: seed)
    #expect(goals.own > goals.opponent, "seed \(seed)")
    sum = (sum.own + goals.own, sum.opponent + goals.opponent)
  }
  #expect(sum.own >= factor * sum.opponent && sum.own >= 4 * seeds, "\(sum)")
}

@Test func `two equal players score at least one goal in 30 seconds`() {
  for seed in 0..<UInt64(scaled(debug: 3, release: 30)) {
    var match = makeMatch(seed: seed)
    #expect(match.playToEnd(limit: 5 * 3_600) != nil)
    let goals = Int(match.rink.state.score.home) + Int(match.rink.state.score.away)
    #expect(Int(match.rink.state.tick.rawValue) < goals * 1_800)
  }
}

@Test(arguments: Strength.allCases)
func `a match between any two strengths ends`(strength: Strength) {
  for other in Strength.allCases {
    var match = makeMatch(seed: 99, home: strength, away: other)
    #expect(match.playToEnd(limit: 10 * 3_600) != nil)
  }
}

@Test func `players that exchange their seats play the mirrored match exactly`() {
  var match = makeMatch(seed: 12, home: .hard, away: .medium)
  var mirror = Match(
    home: ComputerPlayer(.home, strength: .medium, seed: ~12),
    away: ComputerPlayer(.away, strength: .hard, seed: 12))
  // The match has to go on after a goal, so that the serve is compared too.
  for _ in 0..<30_000 where match.rink.state.score.home + match.rink.state.score.away < 2 {
    match.step()
    mirror.step()
    guard mirror.rink.state == match.rink.state.mirrored else {
      Issue.record("they differ at \(match.rink.state)")
      return
    }
  }
  #expect(match.rink.state.score != Score())
}

@Test func `every tick rolled back eight gives the same match`() {
  var match = makeMatch(seed: 21, home: .hard, away: .hard)
  var history: [(rink: Rink, home: MalletInput, away: MalletInput)] = []
  var rollbacks = 0
  for _ in 0..<scaled(debug: 1_200, release: 36_000) {
    let home = match.home.input(for: match.rink.state)
    let away = match.away.input(for: match.rink.state)
    history.append((match.rink, home, away))
    if match.rink.step(home: home, away: away).winner != nil {
      match.rink.startMatch()
      history.removeAll()
    }
    guard history.count >= 8 else { continue }
    var again = Rink(history[history.count - 8].rink.state)
    for entry in history.suffix(8) { _ = again.step(home: entry.home, away: entry.away) }
    rollbacks += 1
    guard again == match.rink else {
      Issue.record("a rollback differs at \(match.rink.state)")
      return
    }
    if history.count > 64 { history.removeFirst(32) }
  }
  #expect(rollbacks > 1_000)
}

@Test func `puck and mallets stay within their bounds for a million ticks`() {
  var match = makeMatch(seed: 3, home: .hard, away: .hard)
  var matches = 0
  for _ in 0..<scaled(debug: 5_000, release: 1_000_000) {
    if match.step().winner != nil {
      matches += 1
      match.rink.startMatch()
    }
    let state = match.rink.state
    guard Bounds.contains(state.puck), Bounds.contains(mallet: state.homeMallet, of: .home),
      Bounds.contains(mallet: state.awayMallet, of: .away)
    else {
      Issue.record("\(state)")
      return
    }
  }
  #expect(matches >= scaled(debug: 0, release: 20))
}
