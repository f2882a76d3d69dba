import CaromCore

/// A simulation that runs ahead of what is known: where a player's input has not come yet, the
/// last one is held; when another comes, the state returns to that tick and the steps since are
/// made again with what is known then.
///
/// It knows neither network nor clock: inputs are added as they come, in the order of their ticks,
/// and `advance` makes one tick. The state before tick t has the inputs of all earlier ticks. Saves
/// lie in a ring that is made once, so a tick allocates nothing as long as the simulation's `copy`
/// and `step` do not.
public struct Rollback<Game: Simulation>: Sendable {
  /// What `advance` did.
  public enum Outcome: Hashable, Sendable {
    /// The tick was made.
    case stepped
    /// The prediction window is used up: an input of the tick at its beginning is missing.
    case stalled
  }

  /// How many ticks before the window the states are kept, to say what a desync was about.
  public static var history: Int { 96 }
  /// How far after the confirmed tick inputs are kept.
  static var ahead: Int64 { 200 }

  /// The most events that wait for `pollEvent`.
  @usableFromInline static var eventLimit: Int { 4_096 }

  /// How many players there are.
  public let playerCount: Int
  /// How many ticks may be made without the inputs of all: 0 waits for each.
  public internal(set) var window: Int
  @usableFromInline var game: Game
  @usableFromInline var now: Tick
  @usableFromInline var confirmed: Tick
  /// The state before each tick of the ring.
  @usableFromInline var saves: [Game]
  @usableFromInline let slotMask: Int
  @usableFromInline var buffers: [InputBuffer<Game.Input>]
  /// What was used in each tick of the ring.
  @usableFromInline var used: [Game.Input]
  /// What the local player did, where only a server's word counts.
  @usableFromInline var localInputs: InputBuffer<Game.Input>?
  @usableFromInline let localPlayer: Int
  /// The first tick that was made with an input that proved wrong.
  @usableFromInline var firstWrong: Tick?
  /// Players who left, from the tick at which they did.
  @usableFromInline var disconnectTicks: [Tick?]
  @usableFromInline var happened: [[Game.Event]]
  @usableFromInline var scratch: [Game.Event] = []
  @usableFromInline var hashes: [UInt64]
  @usableFromInline var hashedThrough: Tick
  @usableFromInline var events = Deque<RollbackEvent<Game.Event>>()
  @usableFromInline var counts = RollbackStatistics()

  /// Begins at `tick` with `game`; the inputs of that tick come first.
  ///
  /// `local` is the player whose inputs are made here and decided by a server: they count until
  /// its word comes.
  public init(
    _ game: Game, players: Int, window: Int = 8, at tick: Tick = .zero, local: Int? = nil
  ) {
    precondition(Game.playerCounts.contains(players), "as many players as can play")
    precondition((0...SimulationLimits.window).contains(window), "a window of 0 to 30 ticks")
    precondition(
      local.map { (0..<players).contains($0) } ?? true,
      "the local player must be one of the match's players")
    playerCount = players
    self.window = window
    self.game = game
    now = tick
    confirmed = tick
    let slots = 128  // a power of two over the window and the history
    slotMask = slots - 1
    saves = Array(repeating: game, count: slots)
    buffers = (0..<players).map { _ in InputBuffer(from: tick) }
    used = Array(repeating: Game.Input(), count: slots * players)
    localInputs = local.map { _ in InputBuffer(from: tick) }
    localPlayer = local ?? -1
    disconnectTicks = Array(repeating: nil, count: players)
    happened = (0..<slots).map { _ in
      var events: [Game.Event] = []
      events.reserveCapacity(4)  // so that rare events allocate nothing later
      return events
    }
    hashes = Array(repeating: 0, count: slots)
    hashedThrough = tick
    hashes[slot(tick)] = game.hash
  }

  // MARK: State

  /// The state before `tick`, foretold where inputs are missing.
  @inlinable public var state: Game { game }
  /// How many ticks were made, counted from the first one's number.
  @inlinable public var tick: Tick { now }
  /// The state before this tick is final: no input before it is missing.
  @inlinable public var confirmedTick: Tick { confirmed }
  /// What it cost so far.
  @inlinable public var statistics: RollbackStatistics { counts }

  /// How many ticks could be confirmed by the inputs that came, even before they are made.
  @inlinable public var confirmableTick: Tick {
    var known: Tick?
    for player in buffers.indices {
      if let left = disconnectTicks[player], left <= buffers[player].next { continue }
      known = min(known ?? buffers[player].next, buffers[player].next)
    }
    return known ?? now.next
  }

  /// A state of the past: of a tick that is at most `history` before the confirmed one, up to now.
  public func state(at tick: Tick) -> Game? {
    if tick == now { return game }
    guard tick < now, tick.distance(to: now) <= Int64(slotMask), tick >= buffers[0].start else {
      return nil
    }
    return saves[slot(tick)]
  }

  /// The hash of the confirmed state before `tick`; `nil` where it is not final or too long ago.
  public func hash(at tick: Tick) -> UInt64? {
    guard tick <= hashedThrough, tick.distance(to: hashedThrough) < Int64(slotMask),
      tick >= buffers[0].start
    else { return nil }
    return hashes[slot(tick)]
  }

  /// The input that a player gave at a tick that is known and kept.
  public func knownInput(for player: Int, at tick: Tick) -> Game.Input? {
    let buffer = buffers[player]
    if let left = disconnectTicks[player], tick >= left { return Game.Input() }
    return tick >= buffer.oldest && tick < buffer.end ? buffer[tick] : nil
  }

  /// The next thing that happened.
  @inlinable
  public mutating func pollEvent() -> RollbackEvent<Game.Event>? { events.popFirst() }

  // MARK: Ring

  @inlinable @inline(__always)
  func slot(_ tick: Tick) -> Int { Int(truncatingIfNeeded: tick.rawValue) & slotMask }
}
