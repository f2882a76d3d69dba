import CaromCore
import Testing

@testable import air_hockey

struct JitterMeterTests {
  @Test func `a percentile is the sample of that rank`() {
    var meter = JitterMeter()
    #expect(meter.percentile(50) == .zero)
    for milliseconds in (1...100).reversed() { meter.record(.milliseconds(milliseconds)) }
    #expect(meter.percentile(50) == .milliseconds(50))
    #expect(meter.percentile(99) == .milliseconds(99))
    #expect(meter.percentile(100) == .milliseconds(100))
    #expect(meter.percentile(0) == .milliseconds(1))
  }

  @Test func `percentiles are those of the sorted samples`() {
    var (meter, generator) = (JitterMeter(), SeededGenerator(seed: 7))
    let samples = (0..<1_000).map { _ in UInt32.random(in: 0...20_000_000, using: &generator) }
    for sample in samples { meter.record(.microseconds(sample)) }
    let sorted = samples.sorted()
    for percent in 1...100 {
      #expect(meter.percentile(percent) == .microseconds(sorted[10 * percent - 1]))
    }
  }

  @Test func `early samples count as much as late ones`() {
    var meter = JitterMeter()
    meter.record(.milliseconds(-3))
    #expect(meter.percentile(50) == .milliseconds(3))
  }

  @Test func `only the most recent samples are stored`() {
    var meter = JitterMeter()
    for _ in 0..<JitterMeter.limit { meter.record(.seconds(1)) }
    for _ in 0..<JitterMeter.limit { meter.record(.milliseconds(1)) }
    #expect(meter.percentile(100) == .milliseconds(1))
    #expect(meter.most == .seconds(1))
  }

  @Test func `a sample that is longer than an hour counts as one`() {
    var meter = JitterMeter()
    meter.record(.seconds(86_400))
    #expect(meter.percentile(50) > .seconds(3_600))
    #expect(meter.most == .seconds(86_400))
  }

  @Test func `a rate is the count of the last complete second`() {
    var meter = RateMeter()
    for tick in 0...120 {
      meter.record(1, at: Instant(nanoseconds: Int64(tick) * 16_666_667))
    }
    #expect(meter.perSecond == 60)
  }
}
