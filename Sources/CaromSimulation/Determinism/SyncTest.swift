/// Tests that a simulation can be rolled back. After every tick the test returns to an earlier
/// state, simulates the ticks since then again and compares the hashes. It throws an error that
/// names the first difference.
///
/// Run a whole match through the test, and make sure that the match exercises every feature of the
/// game.
public struct SyncTest<Game: Simulation>: Sendable {
  /// The number of ticks that are simulated again after each step.
  public let distance: Int
  /// The state before `tick`.
  public private(set) var game: Game
  /// The next tick to simulate.
  public private(set) var tick: Tick
  /// The number of rollbacks so far.
  public private(set) var rollbacks = 0
  /// The number of states compared so far.
  public private(set) var comparisons = 0
  /// The events of the last step. Simulating the step again must emit the same events.
  public private(set) var events: [Game.Event] = []

  private var saves: [Game]
  private var inputs: [[Game.Input]]
  private var happened: [[Game.Event]]
  /// The instance in which ticks are simulated again. It is reused, so that a part of the state
  /// that `copy(_:)` fails to copy stays outdated and is detected.
  private var other: Game
  private let first: Tick

  /// Creates a test that starts with `game` before `tick`. Every step rolls back by `distance`
  /// ticks.
  public init(_ game: Game, distance: Int = 8, at tick: Tick = .zero) {
    precondition(distance > 0, "the rollback distance must be at least 1 tick")
    self.distance = distance
    self.game = game
    self.tick = tick
    first = tick
    other = game
    saves = Array(repeating: game, count: distance + 1)
    inputs = Array(repeating: [], count: distance + 1)
    happened = Array(repeating: [], count: distance + 1)
  }

  /// Simulates a tick with one input per player, then rolls back `distance` ticks and simulates
  /// them again. Throws if the result differs from that of the first simulation.
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
