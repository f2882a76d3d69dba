/// How many bytes may leave: so many a second, and what was left over up to a limit.
struct TokenBucket: Hashable, Sendable {
  private let rate: Int
  private let ticksPerSecond: Int
  private let capacity: Int
  /// Bytes times ticks a second, so that nothing is lost in rounding.
  private var level: Int
  private var filledAt: Tick?

  /// A full bucket of `burst` bytes that gets `rate` bytes a second.
  init(rate: Int, burst: Int, ticksPerSecond: Int) {
    precondition(rate > 0 && burst > 0 && ticksPerSecond > 0, "a rate, a burst and ticks")
    self.rate = rate
    self.ticksPerSecond = ticksPerSecond
    capacity = burst * ticksPerSecond
    level = capacity
  }

  /// Bytes that may leave at a tick.
  mutating func available(at tick: Tick) -> Int {
    if let last = filledAt, last < tick {
      let ticks = min(last.distance(to: tick), Int64(1) << 20)
      level = min(level + rate * Int(ticks), capacity)
    }
    filledAt = tick
    return level / ticksPerSecond
  }

  /// That many left.
  mutating func take(_ bytes: Int) {
    precondition(bytes * ticksPerSecond <= level, "no more than there is")
    level -= bytes * ticksPerSecond
  }
}
