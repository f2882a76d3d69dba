import Testing

@testable import CaromProtocol

/// What a flow measures in a round, from the sending of a packet to its acknowledgement. Times are
/// in milliseconds.
@Suite struct RoundStatisticsTests {
  private static let ms: Int64 = 1_000_000

  /// Ends a round with the given losses in 100 packets. Returns whether they were too many.
  private func hasExcessLoss(
    _ losses: Int, expected: Double = 0, longest: Int64 = 150,
    in statistics: inout RoundStatistics
  ) -> Bool {
    statistics.current.packets = 100
    statistics.current.losses = Int32(losses)
    statistics.current.add(roundTrip: longest * Self.ms)
    statistics.begin(until: 0, expectedLoss: expected, minimumRoundTrip: 100 * Self.ms)
    return statistics.hasExcessLoss
  }

  @Test func `a round begins without measurements, and the one before it is kept`() {
    var statistics = RoundStatistics()
    for time in [120, 100, 110] as [Int64] { statistics.current.add(roundTrip: time * Self.ms) }
    statistics.current.bandwidth = 5
    statistics.begin(until: 7_000, expectedLoss: 0, minimumRoundTrip: 100 * Self.ms)
    #expect(statistics.isStart && statistics.end == 7_000)
    #expect(statistics.last.minimum == 100 * Self.ms && statistics.last.maximum == 120 * Self.ms)
    #expect(statistics.last.sum == 330 * Self.ms && statistics.last.samples == 3)
    #expect(statistics.last.bandwidth == 5)
    #expect(statistics.current.minimum == .max && statistics.current.samples == 0)
    #expect(statistics.current.bandwidth == 0 && statistics.current.maximum == 0)
  }

  @Test func `the excess of a round is its average above its shortest round trip`() {
    var round = RoundStatistics.Round()
    for time in [100, 104, 108] as [Int64] { round.add(roundTrip: time) }
    #expect(round.excess == nil, "four samples are needed")
    round.add(roundTrip: 128)
    #expect(round.excess == 10)
  }

  @Test func `the jitter is the lowest of the first rounds and then follows by quarters`() {
    var statistics = RoundStatistics()
    // The longest of four round trips is 4 times the excess longer than the others.
    func add(excess: Int64) {
      for longer in [0, 0, 0, 4 * excess] { statistics.current.add(roundTrip: 100 + longer) }
    }
    statistics.learnInitialJitter()
    #expect(statistics.jitter == 0)
    for (excess, jitter) in [(80, 80), (40, 40), (60, 40)] as [(Int64, Int64)] {
      add(excess: excess)
      statistics.learnInitialJitter()
      #expect(statistics.jitter == jitter)
      statistics.begin(until: 0, expectedLoss: 0, minimumRoundTrip: 100)
    }
    for (excess, jitter) in [(80, 50), (10, 40)] as [(Int64, Int64)] {
      add(excess: excess)
      statistics.updateJitter()
      #expect(statistics.jitter == jitter)
      statistics.begin(until: 0, expectedLoss: 0, minimumRoundTrip: 100)
    }
    statistics.updateJitter()
    #expect(statistics.jitter == 40, "a round without samples has no jitter")
  }

  @Test(arguments: [(0.0, 4), (0.09, 22), (0.25, 44)])
  func `losses are excessive if random loss does not explain them`(expected: Double, most: Int) {
    var statistics = RoundStatistics()
    let rounds = [most, most + 1, 0].map {
      hasExcessLoss($0, expected: expected, in: &statistics)
    }
    #expect(rounds == [false, true, false])
  }

  @Test func `only a queue at least half as long as the longest one overflows`() {
    var statistics = RoundStatistics()
    // The longest queue becomes 1/64 shorter each round, and a longer one is remembered at once.
    let rounds: [(Int64, Bool)] = [
      (164, true), (131, false), (131, false), (131, true), (300, true), (196, false),
    ]
    for (longest, isExcess) in rounds {
      let result = hasExcessLoss(100, longest: longest, in: &statistics)
      #expect(result == isExcess)
    }
  }

  @Test func `a recent queue is the shortest delay in eight samples`() {
    var recent = RecentQueue()
    for time in [150, 140, 130, 120, 125, 135, 145] as [Int64] {
      recent.add(roundTrip: time, minimum: 100)
      #expect(recent.delay == 0)
    }
    recent.add(roundTrip: 155, minimum: 100)
    #expect(recent.delay == 20)
    for count in 1...8 {
      recent.add(roundTrip: 160, minimum: 100)
      #expect(recent.delay == (count < 8 ? 20 : 60), "sample \(count)")
    }
    recent.reset()
    #expect(recent.delay == 0)
  }
}
