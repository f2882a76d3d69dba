/// How a rollback session plays.
public struct RollbackConfiguration: Hashable, Sendable {
  /// How many players there are.
  public var players: Int
  /// Which of them plays here.
  public var local: Int
  /// Ticks a second.
  public var rate: Int
  /// How many ticks may be made without the inputs of all: 0 to 30.
  public var window: Int
  /// How many ticks after it was given an input counts, 0 to 30: what is hidden that way needs no
  /// rollback.
  public var inputDelay: Int
  /// Whether hashes of confirmed states are exchanged.
  public var detectsDesync = true
  /// The tick that everybody begins with.
  public var start = Tick.zero

  /// A session of `players`, of whom number `local` plays here.
  public init(
    players: Int = 2, local: Int, rate: Int = 60, window: Int = 12, inputDelay: Int = 2
  ) {
    precondition((1...SimulationLimits.players).contains(players), "1 to 64 players")
    precondition((0..<players).contains(local), "the local player is one of them")
    precondition((0...SimulationLimits.window).contains(window), "a window of 0 to 30 ticks")
    precondition(
      (0...SimulationLimits.inputDelay).contains(inputDelay), "an input delay of 0 to 30 ticks")
    self.players = players
    self.local = local
    self.rate = rate
    self.window = window
    self.inputDelay = inputDelay
  }
}
