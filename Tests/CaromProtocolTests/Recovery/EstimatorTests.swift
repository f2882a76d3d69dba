import Testing

@testable import CaromProtocol

/// The estimates that a flow keeps: its round-trip time, its loss rate and its bandwidth.
@Suite struct EstimatorTests {
  private static let ms: Int64 = 1_000_000

  // MARK: The round-trip time

  /// RFC 6298, section 2. The probe timeout is 2 smoothed round trips at most (RFC 8985, 7.2).
  @Test func `the smoothed round trip and its variation follow RFC 6298`() {
    var estimator = RoundTripEstimator()
    #expect(!estimator.hasSample && estimator.latest == 200 * Self.ms)
    #expect(estimator.smoothed == 200 * Self.ms && estimator.minimum == 200 * Self.ms)
    #expect(estimator.variation == 100 * Self.ms && estimator.probeTimeout == 400 * Self.ms)
    // The sample, the smoothed value, the variation, the minimum and the probe timeout, in us.
    let rows: [(Int64, Int64, Int64, Int64, Int64)] = [
      (80_000, 80_000, 40_000, 80_000, 160_000),
      (120_000, 85_000, 40_000, 80_000, 170_000),
      (40_000, 79_375, 41_250, 40_000, 158_750),
      (79_375, 79_375, 30_937, 40_000, 158_750),
      (79_375, 79_375, 23_203, 40_000, 158_750),
      (79_375, 79_375, 17_402, 40_000, 148_984),
    ]
    for (sample, smoothed, variation, minimum, timeout) in rows {
      estimator.add(sample * 1_000, at: 0)
      #expect(estimator.hasSample && estimator.latest == sample * 1_000)
      #expect(estimator.smoothed == smoothed * 1_000)
      #expect(estimator.variation / 1_000 == variation)
      #expect(estimator.minimum == minimum * 1_000)
      #expect(estimator.probeTimeout / 1_000 == timeout)
    }
  }

  @Test func `a round trip that the handshake measured is an assumption, not a sample`() {
    var estimator = RoundTripEstimator(assuming: 30 * Self.ms)
    #expect(!estimator.hasSample && estimator.smoothed == 30 * Self.ms)
    #expect(estimator.variation == 15 * Self.ms && estimator.probeTimeout == 60 * Self.ms)
    estimator.add(90 * Self.ms, at: 0)
    #expect(estimator.minimum == 90 * Self.ms && estimator.variation == 45 * Self.ms)
  }

  @Test func `a probe timeout is at least 5 ms, and a round trip at least 1 ns`() {
    var estimator = RoundTripEstimator()
    for _ in 0..<60 { estimator.add(Self.ms, at: 0) }
    #expect(estimator.probeTimeout == 5 * Self.ms)
    for sample in [0, -5] as [Int64] {
      estimator.add(sample, at: 0)
      #expect(estimator.latest == 1 && estimator.minimum == 1)
    }
  }

  @Test func `the shortest round trip is stale after 10 s without a sample close to it`() {
    let lifetime = 10_000 * Self.ms
    let fresh = RoundTripEstimator()
    #expect(!fresh.isMinimumStale(at: 100 * lifetime))
    // A sample that is 1/32 longer than the minimum is close to it, and a longer one is not.
    for (sample, isClose) in [(103_125_000, true), (103_125_001, false)] as [(Int64, Bool)] {
      var estimator = RoundTripEstimator()
      estimator.add(100 * Self.ms, at: 7)
      #expect(!estimator.isMinimumStale(at: 7 + lifetime))
      #expect(estimator.isMinimumStale(at: 8 + lifetime))
      estimator.add(sample, at: 1_007)
      #expect(estimator.minimum == 100 * Self.ms)
      #expect(estimator.isMinimumStale(at: 8 + lifetime) != isClose)
      #expect(estimator.isMinimumStale(at: 1_008 + lifetime))
    }
  }

  @Test func `a replaced minimum may be longer, and is trusted for another 10 s`() {
    var estimator = RoundTripEstimator()
    estimator.add(100 * Self.ms, at: 0)
    estimator.replaceMinimum(with: 150 * Self.ms, at: 9)
    #expect(estimator.minimum == 150 * Self.ms && estimator.smoothed == 100 * Self.ms)
    #expect(!estimator.isMinimumStale(at: 9 + 10_000 * Self.ms))
    #expect(estimator.isMinimumStale(at: 10 + 10_000 * Self.ms))
  }

  // MARK: The loss rate

  @Test func `a loss rate is 0 until eight packets were counted`() {
    var rate = LossRate(memory: 1_000)
    for count in 1...9 {
      rate.add(isLost: count != 9)
      #expect(rate.value == (count < 8 ? 0 : count == 8 ? 1 : 8.0 / 9), "\(count) packets")
      #expect(rate.weight == Double(count))
    }
  }

  @Test func `older packets count half once the memory is full`() {
    var rate = LossRate(memory: 16)
    for count in 0..<15 { rate.add(isLost: count < 8) }
    #expect(rate.weight == 15 && rate.value == 8.0 / 15)
    rate.add(isLost: false)
    #expect(rate.weight == 8 && rate.value == 0.5)
    rate.add(isLost: true)
    #expect(rate.value == 5.0 / 9)
  }

  @Test func `a spurious loss counts as an arrival, and never below zero`() {
    var rate = LossRate(memory: 1_000)
    for count in 0..<10 { rate.add(isLost: count < 2) }
    rate.undoLoss()
    #expect(rate.value == 0.1 && rate.weight == 10)
    for _ in 0..<3 { rate.undoLoss() }
    rate.add(isLost: true)
    #expect(rate.value == 1.0 / 11)
  }

  // MARK: The bandwidth

  @Test func `the bandwidth is the highest of this cycle and the last one`() {
    var filter = BandwidthFilter()
    #expect(filter.value == 0)
    for (rate, value) in [(100.0, 100.0), (50, 100), (120, 120)] {
      filter.add(rate, isAppLimited: false)
      #expect(filter.value == value)
    }
    filter.beginCycle()
    filter.add(90, isAppLimited: false)
    #expect(filter.value == 120)
    filter.beginCycle()
    #expect(filter.value == 90)
    filter.beginCycle()
    #expect(filter.value == 0)
  }

  @Test func `a rate that the application limited counts only if it raises the bandwidth`() {
    var filter = BandwidthFilter()
    filter.add(100, isAppLimited: true)
    #expect(filter.value == 100)
    filter.beginCycle()
    for rate in [99, 100.0] { filter.add(rate, isAppLimited: true) }
    filter.beginCycle()
    #expect(filter.value == 0)
    filter.add(101, isAppLimited: true)
    filter.beginCycle()
    #expect(filter.value == 101)
  }

  @Test func `a reset bandwidth replaces the samples of both cycles`() {
    var filter = BandwidthFilter()
    filter.add(100, isAppLimited: false)
    filter.beginCycle()
    filter.add(80, isAppLimited: false)
    filter.reset(to: 30)
    #expect(filter.value == 30)
    filter.beginCycle()
    #expect(filter.value == 30)
    filter.beginCycle()
    #expect(filter.value == 0)
  }

  @Test func `a bandwidth probe is successful if it gains more than 15 percent`() {
    var growth = BandwidthGrowth()
    growth.bandwidthBeforeProbe = 1_000
    #expect(!growth.isGrowth(to: 1_149) && growth.isGrowth(to: 1_151))
    growth.recordCycle(hasGrown: true, bandwidth: 2_000)
    #expect(!growth.isGrowth(to: 2_299) && growth.isGrowth(to: 2_301))
  }

  @Test func `the path has changed if three probes in a row gain more than 40 percent`() {
    var growth = BandwidthGrowth()
    growth.bandwidthBeforeProbe = 500
    growth.recordCycle(hasGrown: false, bandwidth: 1_000)
    for bandwidth in [1_200, 1_300, 1_401.0] {
      #expect(!growth.hasOutgrownPath(1_401))
      growth.recordCycle(hasGrown: true, bandwidth: bandwidth)
    }
    #expect(!growth.hasOutgrownPath(1_399) && growth.hasOutgrownPath(1_401))
    var interrupted = growth
    interrupted.recordCycle(hasGrown: false, bandwidth: 1_401)
    #expect(!interrupted.hasOutgrownPath(10_000))
    growth.reset()
    #expect(!growth.hasOutgrownPath(10_000))
  }
}
