import CaromCore
import Testing

@testable import CaromSimulation

@Suite struct InterpolatorTests {
  @Test(arguments: [(60, 0.25), (60, 2), (120, 1)])
  func `the delay is near the shortest that would have done`(rate: Int, jitter: Double) {
    let line = InterpolationLine(
      rate: rate, jitterFrames: jitter, loss: 0.05,
      seconds: Double(scaled(debug: 60, release: 600)),
      seed: 3)
    let found = line.run(underruns: 0.001)
    let shortest = line.shortestDelay(underruns: max(found.underruns, 0.000_2))
    #expect(found.delay < shortest * 1.15)
    #expect(found.underruns < 0.003)
  }

  @Test func `steady samples on a line are drawn exactly and evenly`() {
    var interpolator = Interpolator<InterpolationPoint>(rate: 60)
    var last = -1.0
    for tick in 0..<600 {
      let time = Instant(nanoseconds: Int64(tick) * 1_000_000_000 / 60)
      let x = Double(tick) / 60 * 3
      interpolator.insert(
        InterpolationPoint(x: x, y: -x, velocityX: 3, velocityY: -3), of: Tick(UInt64(tick)),
        at: time)
      guard tick > 60, let frame = interpolator.frame(at: time + .milliseconds(4)) else { continue }
      #expect(!frame.isStarved)
      #expect(abs(frame.value.x + frame.value.y) < 1e-9)
      #expect(frame.value.x > last)
      if last > 0 { #expect(abs(frame.value.x - last - 0.05) < 0.003) }
      last = frame.value.x
    }
    #expect(interpolator.seconds < 0.02)
  }

  @Test func `late, duplicate and reordered samples change nothing but the delay`() {
    var interpolator = Interpolator<InterpolationPoint>(rate: 60)
    let point = InterpolationPoint(x: 1, y: 2, velocityX: 0, velocityY: 0)
    for tick in [5, 3, 4, 4, 9, 1, 5, 300, 2, 299] as [UInt64] {
      interpolator.insert(point, of: Tick(tick), at: .zero + .seconds(6))
    }
    #expect(interpolator.frame(at: .zero + .seconds(6))?.value == point)
    interpolator.insert(point, of: Tick(1 << 60), at: .zero + .seconds(6))
    for tick in 0..<2_000 as Range<UInt64> {
      interpolator.insert(point, of: Tick(tick), at: .zero + .seconds(7))
    }
    #expect(interpolator.frame(at: .zero + .seconds(7))?.value == point)
  }

  @Test func `the cubic has the values and the slopes of both ends`() {
    let at = { (u: Double) in
      InterpolationCurve.hermite(1, slope: 2, 5, slope: -3, interval: 0.5, fraction: u)
    }
    #expect(at(0) == 1)
    #expect(at(1) == 5)
    #expect(abs((at(1e-6) - at(0)) / 0.5e-6 - 2) < 1e-3)
    #expect(abs((at(1) - at(1 - 1e-6)) / 0.5e-6 + 3) < 1e-3)
  }
}

/// Samples that arrive over a simulated connection with uniform jitter, to compare the adaptive
/// delay with the best fixed delay.
struct InterpolationLine {
  let rate: Int
  private var arrivals: [(time: Double, tick: UInt64)] = []

  init(rate: Int, jitterFrames: Double, loss: Double, seconds: Double, seed: UInt64) {
    self.rate = rate
    var generator = SeededGenerator(seed: seed)
    for tick in 0..<UInt64(seconds * Double(rate)) where !generator.chance(loss) {
      let jitter = Double.random(in: -1...1, using: &generator) * jitterFrames / 60
      arrivals.append((0.1 + Double(tick) / Double(rate) + jitter, tick))
    }
    arrivals.sort { ($0.time, $0.tick) < ($1.time, $1.tick) }
  }

  /// The mean delay beyond the shortest transit and the share of starved frames, after the first
  /// ten seconds.
  func run(underruns: Double) -> (delay: Double, underruns: Double) {
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
      if time > 10 {
        frames += 1
        sum += interpolator.seconds
        starved += frame?.isStarved == true ? 1 : 0
      }
      time += 1 / 144.3
    }
    return (sum / Double(frames), Double(starved) / Double(frames))
  }

  /// The shortest fixed delay beyond the shortest transit that starves at most this share of
  /// frames.
  func shortestDelay(underruns: Double) -> Double {
    let least = arrivals.map { $0.time - Double($0.tick) / Double(rate) }.min() ?? 0
    var spans: [(start: Double, end: Double)] = []
    var newest = arrivals[0]
    for arrival in arrivals where arrival.tick > newest.tick {
      let made = Double(newest.tick) / Double(rate) + least
      spans.append((newest.time - made, arrival.time - made))
      newest = (arrival.time, arrival.tick)
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
