/// The states of the last ticks, whole: to judge a shot by what the shooter saw, on a server that
/// is further on, or to say what a state was.
///
/// The ring is made once; a state is saved with `copy`, so that nothing is allocated later.
public struct LagCompensation<Game: Simulation>: Sendable {
  private var ring: [Game]
  private var first: Tick
  private var next: Tick

  /// Keeps the last `ticks` states: at 60 Hz a second takes 61. `game` shows how large they are.
  public init(keeping ticks: Int, of game: Game, from start: Tick = .zero) {
    precondition((1...1 << 16).contains(ticks), "1 to 65,536 states")
    ring = Array(repeating: game, count: ticks)
    first = start
    next = start
  }

  /// How many states are kept.
  public var capacity: Int { ring.count }
  /// The earliest tick whose state is kept.
  public var oldest: Tick {
    first.distance(to: next) > Int64(ring.count) ? next.advanced(by: -Int64(ring.count)) : first
  }
  /// The tick whose state comes next.
  public var end: Tick { next }

  /// Keeps the state before the step of `tick`; a tick out of turn begins a new history.
  public mutating func append(_ game: Game, at tick: Tick) {
    if tick != next {
      first = tick
      next = tick
    }
    ring[slot(tick)].copy(game)
    next = next.next
  }

  /// The state before the step of `tick`; `nil` where it is not kept.
  public func state(at tick: Tick) -> Game? { holds(tick) ? ring[slot(tick)] : nil }

  /// Makes `game` the state of `tick`: what a shot is judged by. False where it is not kept.
  public func rewind(_ game: inout Game, to tick: Tick) -> Bool {
    guard holds(tick) else { return false }
    game.copy(ring[slot(tick)])
    return true
  }

  /// The tick that a player saw when it gave an input: its screen is behind the server by half a
  /// round trip and its interpolation delay. Nobody is taken further back than is kept.
  public func seenTick(at tick: Tick, roundTrip: Int, interpolation: Int) -> Tick {
    let back = Int64(max(0, roundTrip / 2) + max(0, interpolation))
    guard oldest.distance(to: tick) > back else { return oldest }
    return tick.advanced(by: -back)
  }

  private func holds(_ tick: Tick) -> Bool { tick >= oldest && tick < next }
  private func slot(_ tick: Tick) -> Int { Int(tick.rawValue % UInt64(ring.count)) }
}
