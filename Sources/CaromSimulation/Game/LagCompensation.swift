/// A history of complete game states, one per tick. A server uses it to judge a shot by the state
/// that the shooter saw.
///
/// Memory for the states is allocated once and states are saved with `copy(_:)`, so saving
/// allocates nothing.
public struct LagCompensation<Game: Simulation>: Sendable {
  private var ring: [Game]
  private var first: Tick
  private var next: Tick

  /// Creates an empty history that holds up to `ticks` states and begins at `start`. To go back one
  /// second at 60 Hz, keep 61 states: the newest and the 60 before it. `game` is the initial
  /// content of every slot.
  public init(keeping ticks: Int, of game: Game, from start: Tick = .zero) {
    precondition((1...1 << 16).contains(ticks), "a history must hold 1 to 65,536 states")
    ring = Array(repeating: game, count: ticks)
    first = start
    next = start
  }

  /// The number of states that the history can hold.
  public var capacity: Int { ring.count }
  /// The earliest tick whose state is stored.
  public var oldest: Tick {
    first.distance(to: next) > Int64(ring.count) ? next.advanced(by: -Int64(ring.count)) : first
  }
  /// The tick after the newest stored state.
  public var end: Tick { next }

  /// Stores the state before the step of `tick`. If `tick` is not `end`, the history is cleared and
  /// begins again at `tick`.
  public mutating func append(_ game: Game, at tick: Tick) {
    if tick != next {
      first = tick
      next = tick
    }
    ring[slot(tick)].copy(game)
    next = next.next
  }

  /// Returns the state before the step of `tick`, or nil if it is not stored.
  public func state(at tick: Tick) -> Game? { holds(tick) ? ring[slot(tick)] : nil }

  /// Sets `game` to the state before the step of `tick`. Returns false if that state is not stored.
  public func rewind(_ game: inout Game, to tick: Tick) -> Bool {
    guard holds(tick) else { return false }
    game.copy(ring[slot(tick)])
    return true
  }

  /// Returns the tick that a player saw on screen when the server was at `tick`: the screen lags by
  /// half the round trip plus the interpolation delay, both in ticks. The result is never before
  /// `oldest`.
  public func seenTick(at tick: Tick, roundTrip: Int, interpolation: Int) -> Tick {
    let back = Int64(max(0, roundTrip / 2) + max(0, interpolation))
    guard oldest.distance(to: tick) > back else { return oldest }
    return tick.advanced(by: -back)
  }

  private func holds(_ tick: Tick) -> Bool { tick >= oldest && tick < next }
  private func slot(_ tick: Tick) -> Int { Int(tick.rawValue % UInt64(ring.count)) }
}
