/// The configuration of a rollback session.
public struct RollbackConfiguration: Hashable, Sendable {
  /// The number of players.
  public var players: Int
  /// The number of the local player.
  public var local: Int
  /// The number of ticks per second.
  public var rate: Int
  /// The maximum number of ticks that may be simulated with predicted inputs, 0 to 30.
  public var window: Int
  /// The number of ticks between entering an input and the tick at which it applies, 0 to 30. A
  /// network delay of up to this length causes no rollbacks.
  public var inputDelay: Int
  /// Whether the peers exchange and compare hashes of confirmed states.
  public var detectsDesync = true
  /// The first tick of the match, the same for every peer.
  public var start = Tick.zero

  /// Creates the configuration of a session with `players` players, in which the local player has
  /// the number `local`.
  public init(
    players: Int = 2, local: Int, rate: Int = 60, window: Int = 12, inputDelay: Int = 2
  ) {
    precondition((1...SimulationLimits.players).contains(players), "there must be 1 to 64 players")
    precondition(
      (0..<players).contains(local), "the local player must be one of the match's players")
    precondition(
      (0...SimulationLimits.window).contains(window), "the prediction window must be 0 to 30 ticks")
    precondition(
      (0...SimulationLimits.inputDelay).contains(inputDelay),
      "the input delay must be 0 to 30 ticks")
    self.players = players
    self.local = local
    self.rate = rate
    self.window = window
    self.inputDelay = inputDelay
  }
}
