import CaromCore

/// A simulation that runs ahead of the confirmed inputs. A missing input is predicted to be the
/// player's last input. If a different input arrives later, the state at its tick is restored and
/// the ticks since then are simulated again.
///
/// A rollback has neither network nor clock: inputs are added in tick order as they arrive, and
/// `advance()` simulates one tick. The state before tick t includes the inputs of all earlier
/// ticks. Saved states are stored in a ring that is allocated once, so a tick allocates nothing
/// unless the simulation's `copy(_:)` or `step(_:events:)` does.
public struct Rollback<Game: Simulation>: Sendable {
  /// The result of `advance()`.
  public enum Outcome: Hashable, Sendable {
    /// The tick was simulated.
    case stepped
    /// The tick was not simulated, because the prediction window is exhausted: an input of the
    /// confirmed tick is missing.
    case stalled
  }

  /// The number of past states stored in addition to the prediction window, for desync reports.
  public static var history: Int { 96 }
  /// The number of ticks after the confirmed tick for which received inputs are stored.
  static var ahead: Int64 { 200 }

  /// The maximum number of events queued for `pollEvent`.
  @usableFromInline static var eventLimit: Int { 4_096 }

  /// The number of players.
  public let playerCount: Int
  /// The maximum number of ticks that may be simulated with predicted inputs. At 0, every tick
  /// waits for all inputs.
  public internal(set) var window: Int
  @usableFromInline var game: Game
  @usableFromInline var now: Tick
  @usableFromInline var confirmed: Tick
  /// For each tick in the ring, the state before its step.
  @usableFromInline var saves: [Game]
  @usableFromInline let slotMask: Int
  @usableFromInline var buffers: [InputBuffer<Game.Input>]
  /// For each tick in the ring, the inputs with which it was simulated.
  @usableFromInline var used: [Game.Input]
  /// The local player's inputs that the server has not confirmed yet. Nil in a session without a
  /// server.
  @usableFromInline var localInputs: InputBuffer<Game.Input>?
  @usableFromInline let localPlayer: Int
  /// The earliest tick that was simulated with a wrong input, or nil if there is none.
  @usableFromInline var firstWrong: Tick?
  /// The tick from which each player's input is neutral, indexed by player; nil for a player who is
  /// not disconnected.
  @usableFromInline var disconnectTicks: [Tick?]
  @usableFromInline var happened: [[Game.Event]]
  @usableFromInline var scratch: [Game.Event] = []
  @usableFromInline var hashes: [UInt64]
  @usableFromInline var hashedThrough: Tick
  @usableFromInline var events = Deque<RollbackEvent<Game.Event>>()
  @usableFromInline var counts = RollbackStatistics()

  /// Creates a rollback that starts with `game` before the step of `tick`.
  ///
  /// In a match with a server, `local` is the player whose inputs are entered on this machine.
  /// These inputs apply until the server confirms or replaces them.
  public init(
    _ game: Game, players: Int, window: Int = 8, at tick: Tick = .zero, local: Int? = nil
  ) {
    precondition(
      Game.playerCounts.contains(players), "the simulation does not support this number of players")
    precondition(
      (0...SimulationLimits.window).contains(window), "the prediction window must be 0 to 30 ticks")
    precondition(
      local.map { (0..<players).contains($0) } ?? true,
      "the local player must be one of the match's players")
    playerCount = players
    self.window = window
    self.game = game
    now = tick
    confirmed = tick
    let slots = 128  // A power of two larger than the window and the history together.
    slotMask = slots - 1
    saves = Array(repeating: game, count: slots)
    buffers = (0..<players).map { _ in InputBuffer(from: tick) }
    used = Array(repeating: Game.Input(), count: slots * players)
    localInputs = local.map { _ in InputBuffer(from: tick) }
    localPlayer = local ?? -1
    disconnectTicks = Array(repeating: nil, count: players)
    happened = (0..<slots).map { _ in
      var events: [Game.Event] = []
      events.reserveCapacity(4)  // Reserved so that occasional events do not allocate later.
      return events
    }
    hashes = Array(repeating: 0, count: slots)
    hashedThrough = tick
    hashes[slot(tick)] = game.hash
  }

  // MARK: State

  /// The newest state, before the simulation of `tick`. It is predicted if inputs are missing.
  @inlinable public var state: Game { game }
  /// The next tick to simulate.
  @inlinable public var tick: Tick { now }
  /// The first tick that is not confirmed. The state before it is final, because no earlier input
  /// is missing.
  @inlinable public var confirmedTick: Tick { confirmed }
  /// The counts of simulated, stalled and resimulated ticks so far.
  @inlinable public var statistics: RollbackStatistics { counts }

  /// The first tick with a missing input. It may be later than the ticks simulated so far.
  @inlinable public var confirmableTick: Tick {
    var known: Tick?
    for player in buffers.indices {
      if let left = disconnectTicks[player], left <= buffers[player].next { continue }
      known = min(known ?? buffers[player].next, buffers[player].next)
    }
    return known ?? now.next
  }

  /// Returns the state before `tick`, or nil if it is not stored. The newest state, all states
  /// since the confirmed tick and at least the `history` states before it are stored.
  public func state(at tick: Tick) -> Game? {
    if tick == now { return game }
    guard tick < now, tick.distance(to: now) <= Int64(slotMask), tick >= buffers[0].start else {
      return nil
    }
    return saves[slot(tick)]
  }

  /// Returns the hash of the confirmed state before `tick`, or nil if that state is not confirmed
  /// or is no longer stored.
  public func hash(at tick: Tick) -> UInt64? {
    guard tick <= hashedThrough, tick.distance(to: hashedThrough) < Int64(slotMask),
      tick >= buffers[0].start
    else { return nil }
    return hashes[slot(tick)]
  }

  /// Returns a player's actual input at a tick, or nil if it has not arrived or is no longer
  /// stored.
  public func knownInput(for player: Int, at tick: Tick) -> Game.Input? {
    let buffer = buffers[player]
    if let left = disconnectTicks[player], tick >= left { return Game.Input() }
    return tick >= buffer.oldest && tick < buffer.end ? buffer[tick] : nil
  }

  /// Removes and returns the next event, or nil if there is none.
  @inlinable
  public mutating func pollEvent() -> RollbackEvent<Game.Event>? { events.popFirst() }

  // MARK: Ring

  @inlinable @inline(__always)
  func slot(_ tick: Tick) -> Int { Int(truncatingIfNeeded: tick.rawValue) & slotMask }
}
