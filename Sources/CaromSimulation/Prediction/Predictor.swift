/// A client's local simulation where the server sends states: the local input counts at once, and when
/// the server's state of a past tick comes, the steps since are made again from there.
///
/// Inputs carry their ticks, and the server uses each in its tick, so that what only depends on the
/// local inputs is never corrected in play without loss. What others did is not known here: they are
/// assumed to do what `assume` says.
public struct Predictor<Game: Simulation>: Sendable {
  /// What a server's state changed.
  public struct Correction: Hashable, Sendable {
    /// The state's tick.
    public var tick: Tick
    /// How many steps were made again: 0 where the state was foretold to the last bit.
    public var resimulatedSteps: Int
  }

  /// How many ticks of local inputs and states are kept: two seconds at 60 Hz.
  public static var history: Int { 128 }

  /// Whose input counts here.
  public let player: Int
  /// The foretold state before `tick`.
  public private(set) var state: Game
  /// How many ticks were made.
  public private(set) var tick: Tick
  /// The newest tick of the server.
  public private(set) var confirmedTick: Tick
  /// How many states came that were foretold exactly, and how many were not.
  public private(set) var counts = (exact: 0, corrected: 0, stale: 0)

  private var saves: [Game]
  private var localInputs: InputBuffer<Game.Input>
  private var assumed: [Game.Input]
  private var inputs: [Game.Input]
  private var events: [Game.Event] = []

  /// Begins with the server's `game` of `tick`.
  public init(_ game: Game, players: Int, player: Int, at tick: Tick = .zero) {
    precondition((0..<players).contains(player), "the player is one of them")
    self.player = player
    state = game
    self.tick = tick
    confirmedTick = tick
    saves = Array(repeating: game, count: Self.history)
    localInputs = InputBuffer(from: tick)
    assumed = Array(repeating: Game.Input(), count: players)
    inputs = assumed
  }

  /// From now on another player is taken to do that, in steps made again as well.
  public mutating func assume(_ input: Game.Input, for other: Int) { assumed[other] = input }

  /// The local input of a tick, where it is kept: what is to be sent until it is acknowledged.
  public func input(at tick: Tick) -> Game.Input? {
    tick >= localInputs.oldest && tick < localInputs.end ? localInputs[tick] : nil
  }

  /// Makes a tick with the local input, which counts at once.
  public mutating func advance(with input: Game.Input) {
    localInputs.append(input)
    makeStep(at: tick)
    tick = tick.next
  }

  /// What happened in the last step, as far as is known.
  public var lastEvents: [Game.Event] { events }

  /// Takes the server's state before `tick`; `nil` where it is not newer than the last one.
  public mutating func reconcile(with game: borrowing Game, at tick: Tick) -> Correction? {
    guard tick > confirmedTick else {
      counts.stale += 1
      return nil
    }
    confirmedTick = tick
    guard tick <= self.tick, tick.distance(to: self.tick) < Int64(Self.history) else {
      restart(game, at: tick)
      counts.corrected += 1
      return Correction(tick: tick, resimulatedSteps: 0)
    }
    let predicted = tick == self.tick ? state.hash : saves[slot(tick)].hash
    guard predicted != game.hash else {
      counts.exact += 1
      return Correction(tick: tick, resimulatedSteps: 0)
    }
    counts.corrected += 1
    state.copy(game)
    var at = tick
    while at < self.tick {
      makeStep(at: at)
      at = at.next
    }
    return Correction(tick: tick, resimulatedSteps: Int(tick.distance(to: self.tick)))
  }

  /// The state that was foretold for a tick, where it is kept.
  public func predictedState(at tick: Tick) -> Game? {
    if tick == self.tick { return state }
    guard tick < self.tick, tick.distance(to: self.tick) < Int64(Self.history),
      tick >= localInputs.start
    else { return nil }
    return saves[slot(tick)]
  }

  /// The server is further on than this side, or far back: the game goes on from its state.
  private mutating func restart(_ game: borrowing Game, at tick: Tick) {
    state.copy(game)
    self.tick = tick
    localInputs = InputBuffer(from: tick)
  }

  private mutating func makeStep(at tick: Tick) {
    saves[slot(tick)].copy(state)
    for other in inputs.indices { inputs[other] = assumed[other] }
    inputs[player] = localInputs[tick]
    events.removeAll(keepingCapacity: true)
    Rollback.step(&state, inputs, 0..<inputs.count, &events)
  }

  private func slot(_ tick: Tick) -> Int { Int(tick.rawValue) & (Self.history - 1) }
}
