/// Proves that a simulation can be rolled back: each tick it returns by some ticks, makes them
/// again, and compares the hashes. What is not the same is named.
///
/// Run a whole match through it, and see that something happens in that match.
public struct SyncTest<Game: Simulation>: Sendable {
  /// How many ticks are made again in each.
  public let distance: Int
  /// The state before `tick`.
  public private(set) var game: Game
  /// How many ticks were made.
  public private(set) var tick: Tick
  /// How often the past was made again.
  public private(set) var rollbacks = 0
  /// How many steps were compared.
  public private(set) var comparisons = 0
  /// What happened in the last step, which its repetitions have to tell as well.
  public private(set) var events: [Game.Event] = []

  private var saves: [Game]
  private var inputs: [[Game.Input]]
  private var happened: [[Game.Event]]
  /// Holds another state before it is given the one to repeat from, so that an incomplete copy
  /// shows.
  private var other: Game
  private let first: Tick

  /// Begins with `game`; each tick returns by `distance`.
  public init(_ game: Game, distance: Int = 8, at tick: Tick = .zero) {
    precondition(distance > 0, "at least a tick is made again")
    self.distance = distance
    self.game = game
    self.tick = tick
    first = tick
    other = game
    saves = Array(repeating: game, count: distance + 1)
    inputs = Array(repeating: [], count: distance + 1)
    happened = Array(repeating: [], count: distance + 1)
  }

  /// Makes a tick with one input for each player, then the last ones again.
  public mutating func step(_ players: [Game.Input]) throws(SyncTestFailure) {
    let slot = slot(tick)
    saves[slot].copy(game)
    inputs[slot] = players
    events.removeAll(keepingCapacity: true)
    game.step(players.span, events: &events)
    happened[slot] = events
    tick = tick.next
    guard first.distance(to: tick) >= Int64(distance) else { return }
    try repeatSteps(from: tick.advanced(by: -Int64(distance)))
  }

  private mutating func repeatSteps(from start: Tick) throws(SyncTestFailure) {
    rollbacks += 1
    other.copy(saves[slot(start)])
    var at = start
    while at < tick {
      let slot = slot(at)
      try compare(other, saves[slot], at: at)
      var again: [Game.Event] = []
      let players = inputs[slot]
      other.step(players.span, events: &again)
      guard again == happened[slot] else {
        throw SyncTestFailure(tick: at, differences: [], eventsDiffer: true)
      }
      at = at.next
    }
    try compare(other, game, at: tick)
  }

  private mutating func compare(
    _ again: Game, _ before: Game, at tick: Tick
  ) throws(SyncTestFailure) {
    comparisons += 1
    guard again.hash != before.hash else { return }
    var mine = SimulationDescription()
    var theirs = SimulationDescription()
    before.describe(into: &mine)
    again.describe(into: &theirs)
    let report = DesyncStateReport(tick: tick, hashes: [0], description: theirs, isAnswer: false)
    throw SyncTestFailure(
      tick: tick, differences: report.differences(from: mine), eventsDiffer: false)
  }

  private func slot(_ tick: Tick) -> Int { Int(tick.rawValue % UInt64(saves.count)) }
}
