import CaromCore
import CaromSimulation

/// Compares the adaptive interpolation delay with the shortest fixed delay that starves as rarely
/// on the same seeded link.
struct RollbackInterpolation {
  let rate: Int
  private var arrivals: [(time: Double, tick: UInt64)] = []

  /// Creates a link with uniform jitter of up to `jitterFrames` sixtieths of a second in either
  /// direction.
  init(rate: Int, jitterFrames: Double, loss: Double, seconds: Double, seed: UInt64) {
    self.rate = rate
    var generator = SeededGenerator(seed: seed)
    for tick in 0..<UInt64(seconds * Double(rate)) where !generator.chance(loss) {
      let jitter = Double.random(in: -1...1, using: &generator) * jitterFrames / 60
      arrivals.append((0.1 + Double(tick) / Double(rate) + jitter, tick))
    }
    arrivals.sort { ($0.time, $0.tick) < ($1.time, $1.tick) }
  }

  /// Returns the mean delay in excess of the shortest transit time, in seconds, and the fraction of
  /// starved frames, both after the first `warmUp` seconds.
  func adaptive(
    underruns: Double, after warmUp: Double = 60
  ) -> (delay: Double, underruns: Double) {
    var interpolator = Interpolator<InterpolationPoint>(rate: rate, underruns: underruns)
    let point = InterpolationPoint(x: 0, y: 0, velocityX: 0, velocityY: 0)
    var next = 0
    var (sum, frames, starved) = (0.0, 0, 0)
    let end = arrivals.last?.time ?? 0
    var time = 0.2
    while time < end {
      while next < arrivals.count, arrivals[next].time <= time {
        let arrival = Instant(nanoseconds: Int64(arrivals[next].time * 1e9))
        interpolator.insert(point, of: Tick(arrivals[next].tick), at: arrival)
        next += 1
      }
      let frame = interpolator.frame(at: Instant(nanoseconds: Int64(time * 1e9)))
      if time > warmUp {
        frames += 1
        sum += interpolator.seconds
        starved += frame?.isStarved == true ? 1 : 0
      }
      time += 1 / 144.3
    }
    return (sum / Double(frames), Double(starved) / Double(frames))
  }

  /// Returns the shortest fixed delay, in excess of the shortest transit time, that starves at most
  /// the fraction `underruns` of the time.
  func oracle(underruns: Double) -> Double {
    let least = arrivals.map { $0.time - Double($0.tick) / Double(rate) }.min() ?? 0
    var spans: [(start: Double, end: Double)] = []
    var newest = arrivals[0]
    for arrival in arrivals where arrival.tick > newest.tick {
      let made = Double(newest.tick) / Double(rate) + least
      spans.append((newest.time - made, arrival.time - made))
      newest = arrival
    }
    let total = spans.reduce(0) { $0 + $1.end - $1.start }
    var (low, high) = (0.0, 1.0)
    for _ in 0..<40 {
      let middle = (low + high) / 2
      let over = spans.reduce(0) { $0 + max(0, $1.end - max($1.start, middle)) }
      if over > underruns * total { low = middle } else { high = middle }
    }
    return high
  }
}
