import CaromCore
import CaromSimulation

/// A game in one page without a network. The page sets the inputs of all players.
struct LocalGame<Game: Simulation>: Sendable {
  /// The state after the last tick.
  private(set) var state: Game
  /// The state before the last tick, between which and `state` the page draws.
  private(set) var previous: Game
  /// The number of ticks that have been played.
  private(set) var tick = Tick.zero
  private var inputs: [HeldInput<Game.Input>]
  private var steps: StepAccumulator

  /// Creates a game that begins at `now` with a state.
  init(_ state: Game, players: Int, rate: Int, at now: Instant) {
    self.state = state
    previous = state
    inputs = Array(repeating: HeldInput(), count: players)
    steps = StepAccumulator(rate: rate, from: now)
  }

  /// The number of players.
  var players: Int { inputs.count }
  /// The number of ticks per second.
  var rate: Int { steps.rate }
  /// Returns the position of `now` between the last tick and the next, from 0 to 1.
  func fraction(at now: Instant) -> Double { steps.fraction(at: now) }

  /// Sets the input of a player. Returns false if there is no such player.
  mutating func setInput(_ input: Game.Input, for player: Int) -> Bool {
    guard inputs.indices.contains(player) else { return false }
    inputs[player].set(input)
    return true
  }

  /// Plays the ticks that have become due, and returns their number. After a standstill, at most
  /// the ticks of a quarter of a second are. Passes each event to `report`.
  mutating func step(at now: Instant, report: (Game.Event, Tick) -> Void) -> Int {
    let due = steps.advance(to: now).due
    var events: [Game.Event] = []
    for _ in 0..<due {
      var taken: [Game.Input] = []
      for player in inputs.indices { taken.append(inputs[player].take()) }
      previous.copy(state)
      events.removeAll(keepingCapacity: true)
      state.step(taken.span, events: &events)
      for event in events { report(event, tick) }
      tick = tick.next
    }
    return due
  }
}
