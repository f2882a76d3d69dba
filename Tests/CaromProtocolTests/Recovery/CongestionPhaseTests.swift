import Testing

@testable import CaromProtocol

/// The phases of congestion control, and the window and the rate of each. Unless a test says
/// otherwise, the path delivers 1 MB/s and its round trip is 100 ms: 100,000 bytes fill it, and
/// another 25,000 bytes are the longest queue that is tolerated, 25 ms.
@Suite struct CongestionPhaseTests {
  private static let packet = 1_200

  // MARK: Startup

  @Test func `a flow begins with 16 packets each round trip`() {
    var bench = CongestionBench()
    #expect(bench.controller.window == 19_200 && bench.controller.rate == 96_000)
    bench.controller.packetSize = 1_472
    #expect(bench.controller.window == 23_552 && bench.controller.rate == 117_760)
    let known = CongestionController(roundTrip: RoundTripEstimator(assuming: 100_000_000))
    #expect(known.window == 19_200 && known.rate == 192_000)
    let far = CongestionController(roundTrip: RoundTripEstimator(assuming: 2_000_000_000))
    #expect(far.rate == 16_000, "the smallest rate")
  }

  @Test func `startup sends 2.77 times the bandwidth, with two round trips in flight`() {
    var bench = CongestionBench()
    bench.round()
    #expect(bench.phase == .startup && bench.controller.bandwidth == 1e6)
    #expect(bench.controller.window == 200_000 && bench.controller.rate == 2.77e6)
    bench.round(10_000)
    #expect(bench.controller.rate == 2.77e6, "the highest rate counts")
    var slow = CongestionBench()
    slow.round(10_000)
    #expect(slow.controller.window == 19_200 && slow.controller.rate == 192_000)
  }

  @Test func `startup compensates for loss while there is no queue`() {
    for (lost, share) in [(2, 0.8), (6, 0.7)] {
      var bench = CongestionBench()
      bench.record(10, lost: lost)
      bench.round(roundTrip: 200)
      #expect((bench.controller.rate * share / 2.77 - 1e6).magnitude < 1)
      // A queue of 30 ms: longer than 25 ms, but too short to end startup.
      for _ in 0..<2 { bench.round(roundTrip: 230) }
      #expect(bench.phase == .startup && bench.controller.queue == 30_000_000)
      #expect(bench.controller.rate == 2.77e6)
    }
  }

  @Test func `startup ends after three rounds in which the bandwidth grew by less than a quarter`()
  {
    var bench = CongestionBench()
    for rate in [1e6, 1.24e6, 1.24e6, 1.25e6, 1.5e6, 1.5e6] {
      bench.round(rate)
      #expect(bench.phase == .startup)
    }
    for _ in 0..<5 { bench.round(1.5e6, isAppLimited: true) }
    for _ in 0..<5 { bench.round(1.5e6, isRoundStart: false) }
    #expect(bench.phase == .startup)
    bench.round(1.5e6)
    #expect(bench.phase == .drain)
  }

  /// The tolerated queue is a quarter of the round trip, or 4 ms if that is longer.
  @Test(arguments: [(8, 4), (16, 4), (40, 10), (100, 25), (200, 50)])
  func `startup ends once a queue has persisted for a round`(roundTrip: Int64, queue: Int64) {
    for (longer, isOver) in [(queue, false), (queue + 1, true)] {
      var bench = CongestionBench()
      bench.round(1e6, roundTrip: roundTrip)
      bench.round(2e6, roundTrip: roundTrip + longer)
      #expect(bench.phase == .startup)
      bench.round(4e6, roundTrip: roundTrip + longer)
      #expect((bench.phase == .drain) == isOver)
    }
  }

  @Test func `startup ends within a round once eight packets in a row were queued`() {
    for (longer, isOver) in [(37, false), (38, true)] as [(Int64, Bool)] {
      var bench = CongestionBench()
      for _ in 0..<8 { bench.round(isRoundStart: false) }
      for _ in 0..<7 { bench.round(roundTrip: 100 + longer, isRoundStart: false) }
      #expect(bench.phase == .startup)
      bench.round(roundTrip: 100 + longer, isRoundStart: false)
      #expect((bench.phase == .drain) == isOver)
    }
  }

  // MARK: The bandwidth cycle

  @Test func `drain sends at half the bandwidth until no more is in flight than fills the path`() {
    var bench = CongestionBench()
    for _ in 0..<4 { bench.round() }
    #expect(bench.phase == .drain)
    #expect(bench.controller.window == 4 * Self.packet + 125_000 && bench.controller.rate == 5e5)
    bench.round(inFlight: 100_001)
    #expect(bench.phase == .drain)
    bench.round(inFlight: 100_000, isRoundStart: false)
    #expect(bench.phase == .cruise)
    #expect(bench.controller.window == 4 * Self.packet + 125_000 && bench.controller.rate == 1e6)
  }

  @Test func `the lengths of cruises differ from one to the next`() {
    var bench = CongestionBench.cruising()
    let lengths = (0..<6).map { _ in
      let length = bench.leavePhase()
      while bench.phase != .cruise { bench.round() }
      return length
    }
    #expect(lengths == [4, 5, 6, 3, 4, 5])
  }

  @Test func `a probe for bandwidth lasts one round, and the queue drains after it`() {
    var bench = CongestionBench.cruising()
    #expect(!bench.controller.isCalm)
    _ = bench.leavePhase()
    #expect(bench.phase == .up && !bench.controller.isCalm)
    #expect(bench.controller.window == (4 + 8) * Self.packet + 156_250)
    #expect(bench.controller.rate == 1.25e6 + 96_000)
    bench.round(isRoundStart: false)
    #expect(bench.phase == .up)
    bench.round()
    #expect(bench.phase == .down && bench.controller.isCalm)
    #expect(bench.controller.window == 4 * Self.packet + 125_000)
    #expect(bench.controller.rate == 0.75e6)
    bench.round(isRoundStart: false)
    bench.round(inFlight: 102_401)
    #expect(bench.phase == .down, "more than two packets beyond what fills the path")
    bench.round(inFlight: 102_400)
    #expect(bench.phase == .cruise)
  }

  @Test func `a flow does not probe while its application sends too little`() {
    var bench = CongestionBench.cruising()
    for _ in 0..<20 { bench.round(isAppLimited: true) }
    #expect(bench.phase == .cruise)
    bench.round()
    #expect(bench.phase == .up)
  }

  @Test func `a probe that gains more than 15 percent is repeated`() {
    for (rate, next) in [(1.16e6, CongestionBench.Phase.up), (1.14e6, .cruise)] {
      var bench = CongestionBench.afterProbe()
      bench.round(rate)
      #expect(bench.phase == next && bench.controller.bandwidth == rate)
    }
  }

  @Test func `startup is repeated when three probes gain more than 40 percent`() {
    for (rates, next) in [
      ([1.2e6, 1.4e6, 1.7e6], CongestionBench.Phase.startup), ([1.16e6, 1.34e6, 1.39e6], .cruise),
    ] {
      var bench = CongestionBench.afterProbe()
      for rate in rates {
        #expect(bench.phase == .down)
        bench.round(rate)
        guard bench.phase == .up else { break }
        bench.round(rate)
      }
      #expect(bench.phase == next)
    }
  }

  @Test func `the bandwidth of a path that became slower is forgotten after two probes`() {
    var bench = CongestionBench.cruising()
    while bench.phase != .down { bench.round(5e5) }
    #expect(bench.controller.bandwidth == 1e6)
    bench.round(5e5)
    #expect(bench.phase == .cruise && bench.controller.bandwidth == 1e6)
    while bench.phase != .down { bench.round(5e5) }
    bench.round(5e5)
    #expect(bench.controller.bandwidth == 5e5)
  }

  @Test func `a queue that persists while cruising lowers the bandwidth by 5 percent`() {
    for (longer, isOver) in [(25, false), (26, true)] as [(Int64, Bool)] {
      var bench = CongestionBench.cruising()
      for _ in 0..<2 { bench.round(roundTrip: 100 + longer) }
      #expect(bench.phase == (isOver ? .down : .cruise))
      #expect(bench.controller.bandwidth == (isOver ? 0.95e6 : 1e6))
      #expect(bench.controller.queue == longer * 1_000_000)
    }
    var slow = CongestionBench.cruising()
    for _ in 0..<2 { slow.round(6e5, roundTrip: 130) }
    #expect(slow.controller.bandwidth == 0.57e6, "the path delivered 0.6 MB/s")
    var limited = CongestionBench.cruising()
    for _ in 0..<2 { limited.round(roundTrip: 130, isAppLimited: true) }
    #expect(limited.controller.bandwidth == 1e6)
  }

  @Test(arguments: [(8, 4_000), (20, 5_000), (60, 15_000), (100, 25_000), (300, 25_000)])
  func `the tolerated queue is a quarter of the round trip, from 4 to 25 ms`(
    roundTrip: Int64, target: Int64
  ) {
    var bench = CongestionBench()
    bench.round(roundTrip: roundTrip)
    #expect(bench.controller.queueTarget == target * 1_000)
  }

  // MARK: Minimum

  @Test func `a game continues at 16,000 bytes per second whatever the model says`() {
    var bench = CongestionBench()
    while bench.phase != .up {
      bench.round(100)
      if bench.phase != .startup {
        #expect(bench.controller.rate >= 16_000 && bench.controller.window >= 4 * Self.packet)
      }
      if bench.phase == .drain || bench.phase == .cruise {
        #expect(bench.controller.rate == 16_000 && bench.controller.window == 4 * Self.packet + 12)
      }
    }
    bench.round(100)
    #expect(bench.phase == .down && bench.controller.rate == 16_000)
  }

  @Test func `a stalled flow sends its minimum, and starts again with half the bandwidth`() {
    var bench = CongestionBench.cruising()
    bench.controller.stall()
    #expect(bench.controller.isStalled)
    #expect(bench.controller.window == 4 * Self.packet && bench.controller.rate == 16_000)
    bench.round(1_000, acknowledged: 0)
    #expect(bench.controller.isStalled && bench.controller.rate == 16_000)
    bench.round(1_000, acknowledged: 1)
    #expect(!bench.controller.isStalled && bench.phase == .startup)
    #expect(bench.controller.bandwidth == 5e5 && bench.controller.rate == 2.77 * 5e5)
  }
}
