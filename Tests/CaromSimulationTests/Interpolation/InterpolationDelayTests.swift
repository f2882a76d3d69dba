import CaromCore
import Testing

@testable import CaromSimulation

@Suite struct InterpolationDelayTests {
  /// Records samples that are made every 1/64 s from tick `first` up to `end` and arrive after
  /// `transit` seconds. All times are exact.
  private func record(
    _ delay: inout InterpolationDelay, from first: Int, to end: Int, transit: Double
  ) {
    for tick in first..<end {
      let made = Double(tick) / 64
      delay.recordSample(made: made, arrival: made + transit)
    }
  }

  @Test func `the first delay is three intervals, and at most a second`() {
    #expect(InterpolationDelay(interval: 0.25).seconds == 0.75)
    #expect(InterpolationDelay(interval: 0.5).seconds == 1)
    #expect(InterpolationDelay(interval: 1).seconds == 1)
    #expect(InterpolationDelay(interval: 0.25).leastTransit == nil)
    #expect(InterpolationDelay(interval: 0.25).underruns == 0.001)
    #expect(Interpolator<InterpolationPoint>(rate: 60, every: 15).seconds == 0.75)
  }

  @Test func `even samples need one interval, after few measurements at least two`() {
    var delay = InterpolationDelay(interval: 1.0 / 64)
    record(&delay, from: 0, to: 21, transit: 0.5)
    #expect(delay.seconds == 3.0 / 64)
    record(&delay, from: 21, to: 22, transit: 0.5)
    #expect(delay.seconds == 2.0 / 64)
    record(&delay, from: 22, to: 300, transit: 0.5)
    #expect(delay.seconds == 2.0 / 64)
    record(&delay, from: 300, to: 302, transit: 0.5)
    #expect(abs(delay.seconds - 1.0 / 64) < 0.000_26)
    #expect(delay.leastTransit == 0.5)
  }

  @Test func `the delay never exceeds a second, even after few samples with long intervals`() {
    var delay = InterpolationDelay(interval: 1)
    for second in 0..<40 {
      delay.recordSample(made: Double(second), arrival: Double(second) + 0.5)
      #expect(delay.seconds <= InterpolationDelay.limit)
    }
  }

  @Test func `a larger share of underruns gives a shorter delay`() {
    let found = [0.001, 0.25, 0.5, 0.75].map { share in
      var delay = InterpolationDelay(interval: 1.0 / 64, underruns: share)
      record(&delay, from: 0, to: 1_000, transit: 0)
      return delay.seconds * 64
    }
    // The age of the newest sample is evenly distributed over an interval.
    for (share, delay) in zip([0.001, 0.25, 0.5, 0.75], found) {
      #expect(abs(1 - share - delay) < 0.02)
    }
  }

  @Test func `a sample more than ten seconds further ahead than the local clock is ignored`() {
    var delay = InterpolationDelay(interval: 0.25)
    let known = [
      delay.recordSample(made: 5_000, arrival: 0), delay.recordSample(made: 5_010, arrival: 0),
      delay.recordSample(made: 5_020.5, arrival: 0.25),
    ]
    #expect(known == [true, true, false])
    #expect(delay.leastTransit == -5_010)
    // Time that passed without a sample counts.
    #expect(delay.recordSample(made: 5_020.5, arrival: 0.5) == true)
    #expect(delay.leastTransit == -5_020)
  }

  @Test func `late and repeated samples shorten no delay and do not count as newest`() {
    var delay = InterpolationDelay(interval: 1.0 / 64)
    record(&delay, from: 0, to: 500, transit: 0.5)
    let before = delay.seconds
    for tick in [499, 480, 3] { delay.recordSample(made: Double(tick) / 64, arrival: 8.3) }
    #expect(delay.seconds == before)
    #expect(delay.leastTransit == 0.5)
    record(&delay, from: 500, to: 520, transit: 0.5)
    #expect(abs(delay.seconds - before) < 0.000_5)
  }

  @Test func `a shorter route applies at once, and the drawn time does not change`() {
    var delay = InterpolationDelay(interval: 1.0 / 64)
    record(&delay, from: 0, to: 64 * 20, transit: 0.5)
    let before = delay.seconds
    record(&delay, from: 64 * 20, to: 64 * 20 + 1, transit: 0.25)
    #expect(delay.leastTransit == 0.25)
    #expect(abs(delay.seconds - before - 0.25) < 0.001)
  }

  @Test func `a longer route applies after half a minute, and then does not add to the delay`() {
    var delay = InterpolationDelay(interval: 1.0 / 64)
    record(&delay, from: 0, to: 64 * 40, transit: 0.5)
    let before = delay.seconds
    // The windows of half a minute end at 30.5 s, 60.5 s and 90.5 s.
    record(&delay, from: 64 * 40, to: 64 * 85, transit: 0.75)
    #expect(delay.leastTransit == 0.5)
    #expect(abs(delay.seconds - before - 0.25) < 0.001)
    record(&delay, from: 64 * 85, to: 64 * 91, transit: 0.75)
    #expect(delay.leastTransit == 0.75)
    #expect(abs(delay.seconds - before) < 0.001)
  }

  @Test func `one short transit in half a minute keeps the shortest transit`() {
    var delay = InterpolationDelay(interval: 1.0 / 64)
    for second in 0..<200 {
      let start = 64 * second
      record(&delay, from: start, to: start + 1, transit: second % 25 == 0 ? 0.5 : 0.75)
      record(&delay, from: start + 1, to: start + 64, transit: 0.75)
    }
    #expect(delay.leastTransit == 0.5)
  }

  @Test func `the delay is at most a second, however long no sample arrives`() {
    var delay = InterpolationDelay(interval: 1.0 / 64, underruns: 0.01)
    record(&delay, from: 0, to: 700, transit: 0)
    delay.recordSample(made: 100, arrival: 100)
    #expect(delay.seconds > 0.999 && delay.seconds <= 1)
    // An interruption that is older than the memory counts little.
    record(&delay, from: 6_500, to: 64 * 900, transit: 0)
    #expect(delay.seconds < 0.02)
  }

  @Test func `after hours of rare samples, the delay still becomes that of even ones`() {
    var delay = InterpolationDelay(interval: 0.5)
    // The weight of a second grows until it is a very large number, and begins again.
    for hundred in 0..<400 {
      delay.recordSample(made: 100 * Double(hundred), arrival: 100 * Double(hundred))
    }
    #expect(delay.seconds > 0.999)
    for sample in 0..<3_000 {
      let made = 40_000 + 0.5 * Double(sample)
      delay.recordSample(made: made, arrival: made)
    }
    #expect(delay.seconds > 0.498 && delay.seconds < 0.501)
  }
}
