import CaromCore
import Testing

@testable import CaromSimulation

/// What an interpolator draws at which time. With one sample a second, the delay is a second until
/// 20 s have been measured.
@Suite struct InterpolatorDrawingTests {
  private var interpolator = Interpolator<InterpolationPoint>(rate: 64, every: 64)

  private func makePoint(_ x: Double) -> InterpolationPoint {
    InterpolationPoint(x: x, y: -x, velocityX: 0, velocityY: 0)
  }

  private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

  @Test mutating func `nothing is drawn before the first sample`() {
    #expect(interpolator.frame(at: at(1))?.value == nil)
    #expect(interpolator.frames == (0, 0))
    #expect(interpolator.drawnTick == nil)
    interpolator.insert(makePoint(3), of: Tick(0), at: at(1))
    #expect(interpolator.drawnTick == nil)
    #expect(interpolator.frame(at: at(1))?.value == makePoint(3))
    #expect(interpolator.drawnTick == -64)
  }

  @Test mutating func `the newest sample stands still when the drawn time is past it`() {
    interpolator.insert(makePoint(3), of: Tick(64), at: at(1))
    let frames = [1.5, 2, 2.5, 3].map { interpolator.frame(at: at($0)) }
    #expect(frames.map { $0?.isStarved } == [false, false, true, true])
    #expect(frames.allSatisfy { $0?.value == makePoint(3) })
    #expect(interpolator.frames == (4, 2))
    #expect(interpolator.drawnTick == 128)
  }

  @Test mutating func `a value is drawn at its place between its two neighbors`() {
    for tick in [0, 64, 256] as [UInt64] {
      interpolator.insert(makePoint(Double(tick)), of: Tick(tick), at: at(4))
    }
    // The shortest transit is 0 s, so the drawn time is a second behind.
    interpolator.insert(makePoint(1_000), of: Tick(64), at: at(4))
    let middle = interpolator.frame(at: at(1.5))?.value
    #expect(middle == .between(makePoint(0), makePoint(64), fraction: 0.5, interval: 1))
    #expect(interpolator.drawnTick == 32)
    let late = interpolator.frame(at: at(3.5))?.value
    #expect(late == .between(makePoint(64), makePoint(256), fraction: 0.5, interval: 3))
    interpolator.insert(makePoint(7), of: Tick(128), at: at(4))
    let between = interpolator.frame(at: at(3.5))?.value
    #expect(between == .between(makePoint(7), makePoint(256), fraction: 0.25, interval: 2))
    #expect(interpolator.frame(at: at(2))?.isStarved == false)
  }

  @Test(arguments: [(144, 0.525), (160, 1)] as [(UInt64, Double)])
  mutating func
    `a drawn time that is up to a quarter of a second off changes its speed, else jumps`(
      tick: UInt64, advance: Double
    )
  {
    interpolator.insert(makePoint(0), of: Tick(0), at: at(1))
    _ = interpolator.frame(at: at(3))
    #expect(interpolator.drawnTick == 64)
    // The shortest transit falls from 1 s to 0.75 s or 0.5 s.
    interpolator.insert(makePoint(1), of: Tick(tick), at: at(3))
    _ = interpolator.frame(at: at(3.5))
    let drawn = interpolator.drawnTick ?? 0
    #expect(abs(drawn - 64 * (1 + advance)) < 1e-9)
    _ = interpolator.frame(at: at(3.25))
    #expect(abs((interpolator.drawnTick ?? 0) - drawn) < 1e-9)
  }

  @Test mutating func `when the delay changes, the drawn time runs at most 5 % faster or slower`() {
    var fast = Interpolator<InterpolationPoint>(rate: 64)
    var generator = SeededGenerator(seed: 4)
    var speeds: [Double] = []
    var (drawn, before) = (-1.0, 0.0)
    for tick in 0..<6_000 {
      let jitter = Double.random(in: 0...(tick % 2_000 < 1_000 ? 0.002 : 0.06), using: &generator)
      let now = Double(tick) / 64
      fast.insert(makePoint(0), of: Tick(UInt64(tick)), at: at(now + 0.1 + jitter))
      _ = fast.frame(at: at(now + 0.17))
      if tick > 10 { speeds.append(((fast.drawnTick ?? 0) / 64 - drawn) / (now - before)) }
      (drawn, before) = ((fast.drawnTick ?? 0) / 64, now)
    }
    #expect(speeds.allSatisfy { $0 > 0.95 - 1e-6 && $0 < 1.05 + 1e-6 })
    #expect(speeds.contains { $0 < 0.951 } && speeds.contains { $0 > 1.049 })
    // Most of the time it runs at its normal speed.
    #expect(speeds.count { abs($0 - 1) < 0.02 } > 3_000)
  }

  @Test mutating func `the newest 256 samples are stored`() {
    for tick in 0...256 as ClosedRange<UInt64> {
      interpolator.insert(makePoint(Double(tick)), of: Tick(64 + tick), at: at(9))
    }
    // Of 257 samples the oldest, that of tick 64, is gone.
    let early = interpolator.frame(at: at(1.1))?.value
    #expect(early == makePoint(1))
    interpolator.insert(makePoint(-5), of: Tick(3), at: at(9))
    #expect(interpolator.frame(at: at(1.1))?.value == makePoint(1))
  }

  @Test func `positions follow the cubic curve, and velocities a line`() {
    let a = InterpolationPoint(x: 0, y: 4, velocityX: 2, velocityY: 0)
    let b = InterpolationPoint(x: 8, y: 0, velocityX: -2, velocityY: 8)
    let middle = InterpolationPoint.between(a, b, fraction: 0.5, interval: 2)
    #expect(middle == InterpolationPoint(x: 5, y: 0, velocityX: 0, velocityY: 4))
    let quarter = InterpolationPoint.between(a, b, fraction: 0.25, interval: 2)
    #expect(quarter.velocityX == 1 && quarter.velocityY == 2)
    #expect(InterpolationCurve.linear(2, 10, fraction: 0.25) == 4)
    #expect(InterpolationCurve.linear(2, 10, fraction: 1) == 10)
    // 27/32 of the first value, 5/32 of the second, and 9/64 and 3/64 of the slopes per second.
    let cubic = InterpolationCurve.hermite(
      32, slope: 64, 64, slope: 0, interval: 2, fraction: 0.25)
    #expect(cubic == 27 + 10 + 18)
    let other = InterpolationCurve.hermite(
      32, slope: 0, 64, slope: 64, interval: 2, fraction: 0.25)
    #expect(other == 27 + 10 - 6)
  }
}
