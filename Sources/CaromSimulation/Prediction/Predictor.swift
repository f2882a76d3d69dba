/// A client's local prediction of a match whose server sends states. Local inputs apply
/// immediately. When the server's state of a past tick arrives and differs from the prediction, the
/// ticks since then are simulated again from the server's state.
///
/// Inputs carry their ticks, and the server applies each input at its tick. Without packet loss, a
/// part of the state that depends only on local inputs is therefore never corrected. The other
/// players' inputs are unknown; the prediction assumes the inputs set with `assume(_:for:)`.
public struct Predictor<Game: Simulation>: Sendable {
  /// The effect of a server's state on the prediction.
  public struct Correction: Hashable, Sendable {
    /// The tick of the server's state.
    public var tick: Tick
    /// The number of ticks that were simulated again. It is 0 if the prediction was exact or was
    /// replaced by the server's state.
    public var resimulatedSteps: Int
  }

  /// The number of predicted states stored: two seconds at 60 Hz.
  public static var history: Int { 128 }

  /// The number of the local player, whose inputs apply immediately.
  public let player: Int
  /// The predicted state before `tick`.
  public private(set) var state: Game
  /// The next tick to simulate.
  public private(set) var tick: Tick
  /// The tick of the newest server state that has been processed.
  public private(set) var confirmedTick: Tick
  /// The number of server states that matched the prediction exactly, the number that corrected it,
  /// and the number that were ignored because they were not newer than the last processed state.
  public private(set) var counts = (exact: 0, corrected: 0, stale: 0)

  private var saves: [Game]
  private var localInputs: InputBuffer<Game.Input>
  private var assumed: [Game.Input]
  private var inputs: [Game.Input]
  private var events: [Game.Event] = []

  /// Creates a prediction that starts with the server's state `game` before `tick`.
  public init(_ game: Game, players: Int, player: Int, at tick: Tick = .zero) {
    precondition(
      (0..<players).contains(player), "the local player must be one of the match's players")
    self.player = player
    state = game
    self.tick = tick
    confirmedTick = tick
    saves = Array(repeating: game, count: Self.history)
    localInputs = InputBuffer(from: tick)
    assumed = Array(repeating: Game.Input(), count: players)
    inputs = assumed
  }

  /// Sets the assumed input of another player for all ticks simulated after this call, including
  /// ticks that are simulated again.
  public mutating func assume(_ input: Game.Input, for other: Int) { assumed[other] = input }

  /// Returns the local input of a tick, or nil if that input is not stored. Keep sending each input
  /// until the server has acknowledged it.
  public func input(at tick: Tick) -> Game.Input? {
    tick >= localInputs.oldest && tick < localInputs.end ? localInputs[tick] : nil
  }

  /// Simulates a tick with the local player's input.
  public mutating func advance(with input: Game.Input) {
    localInputs.append(input)
    makeStep(at: tick)
    tick = tick.next
  }

  /// The predicted events of the last step.
  public var lastEvents: [Game.Event] { events }

  /// Processes the state that the server had before `tick`, and returns its effect. Returns nil if
  /// that state is not newer than the last processed state.
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

  /// Returns the predicted state before a past tick, or nil if it is not stored.
  public func predictedState(at tick: Tick) -> Game? {
    if tick == self.tick { return state }
    guard tick < self.tick, tick.distance(to: self.tick) < Int64(Self.history),
      tick >= localInputs.start
    else { return nil }
    return saves[slot(tick)]
  }

  /// Replaces the prediction with a server's state that is ahead of it, or too old to simulate
  /// from.
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
