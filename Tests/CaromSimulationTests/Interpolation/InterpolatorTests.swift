import CaromCore
import Testing

@testable import CaromSimulation

@Suite struct InterpolatorTests {
  @Test(arguments: [(60, 0.25), (60, 2), (120, 1)])
  func `the delay is near the shortest that would have done`(rate: Int, jitter: Double) {
    let line = RollbackInterpolation(
      rate: rate, jitterFrames: jitter, loss: 0.05,
      seconds: Double(scaled(debug: 60, release: 600)),
      seed: 3)
    let found = line.adaptive(underruns: 0.001, after: 10)
    let shortest = line.oracle(underruns: max(found.underruns, 0.000_2))
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
