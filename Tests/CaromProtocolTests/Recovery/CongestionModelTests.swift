import Testing

@testable import CaromProtocol

/// What congestion control learns about a path: its random loss, its shortest round trip, and other
/// traffic that fills its queue.
@Suite struct CongestionModelTests {
  // MARK: Random loss

  @Test func `only packets that were sent while draining show the random loss`() {
    var bench = CongestionBench.cruising()
    bench.record(100, lost: 50)
    #expect(bench.controller.randomLoss == 0 && bench.controller.wireBandwidth == 1e6)
    bench.record(10, lost: 2, isCalm: true)
    #expect(bench.controller.randomLoss == 0.2 && bench.controller.wireBandwidth == 1.25e6)
    bench.controller.undoLoss(isCalm: false)
    #expect(bench.controller.randomLoss == 0.2)
    bench.controller.undoLoss(isCalm: true)
    #expect(bench.controller.randomLoss == 0.1)
    bench.record(100, lost: 100, isCalm: true)
    #expect(bench.controller.randomLoss == 0.3, "no more than this is compensated")
    bench.controller.refresh()
    #expect((bench.controller.rate * 0.7 - 1e6).magnitude < 1)
  }

  @Test func `each round counts its packets and its losses`() {
    var bench = CongestionBench.cruising()
    bench.record(5, lost: 2)
    #expect(bench.controller.rounds.current.packets == 5)
    #expect(bench.controller.rounds.current.losses == 2)
    for _ in 0..<3 { bench.controller.undoLoss(isCalm: false) }
    #expect(bench.controller.rounds.current.losses == 0)
    #expect(bench.controller.rounds.current.packets == 5)
  }

  @Test func `the jitter is learned in the first three rounds and while cruising`() {
    func measure(_ excess: Int64, in bench: inout CongestionBench) {
      for longer in [0, 0, 4 * excess] {
        bench.round(roundTrip: 100 + longer, isRoundStart: false)
      }
      bench.round()
    }
    var bench = CongestionBench()
    bench.round()
    for (excess, jitter) in [(8, 8), (4, 4), (1, 4)] as [(Int64, Int64)] {
      measure(excess, in: &bench)
      #expect(bench.controller.rounds.jitter == jitter * 1_000_000, "excess \(excess)")
    }
    #expect(bench.controller.queueTarget == 29_000_000)
    #expect(bench.controller.unqueuedRoundTrip == 104_000_000)
    while bench.phase != .cruise { bench.round() }
    measure(8, in: &bench)
    #expect(bench.controller.rounds.jitter == 5_000_000)
  }

  // MARK: The round trip

  /// Lets the round trip be 10 ms longer until a probe begins. Returns the seconds until then.
  private func beginProbe(_ bench: inout CongestionBench, roundTrip: Int64 = 110) -> Int64 {
    let start = bench.now
    while bench.phase != .probeRoundTrip, bench.now < start + 200_000 {
      bench.round(roundTrip: roundTrip, isAppLimited: true)
    }
    return (bench.now - start) / 1_000
  }

  @Test func `the round trip is probed once no short one was seen for 10 s`() {
    var bench = CongestionBench.cruising()
    #expect(beginProbe(&bench) == 10)
    #expect(bench.controller.window == 50_000 && bench.controller.rate == 1e6)
    #expect(bench.controller.roundTrip.minimum == 100_000_000)
    bench.round(roundTrip: 110)
    #expect(bench.phase == .probeRoundTrip, "the round in which the probe began is not over")
    bench.round(roundTrip: 110)
    #expect(bench.phase == .cruise)
    #expect(bench.controller.roundTrip.minimum == 110_000_000)
  }

  @Test func `a probe of a short round trip lasts 200 ms`() {
    var bench = CongestionBench.cruising(roundTrip: 50)
    _ = beginProbe(&bench, roundTrip: 60)
    for _ in 0..<3 { bench.round(roundTrip: 60) }
    bench.round(roundTrip: 60, isRoundStart: false)
    #expect(bench.phase == .probeRoundTrip)
    bench.round(roundTrip: 60)
    #expect(bench.phase == .cruise && bench.controller.roundTrip.minimum == 60_000_000)
  }

  @Test func `startup continues after a probe if it knows no bandwidth yet`() {
    var idle = CongestionBench()
    idle.round(roundTrip: 100, isAppLimited: true)
    #expect(beginProbe(&idle) == 10)
    for _ in 0..<2 { idle.round(roundTrip: 110, isAppLimited: true) }
    #expect(idle.phase == .startup)
    var busy = CongestionBench()
    busy.round()
    #expect(beginProbe(&busy) == 10)
    for _ in 0..<2 { busy.round(roundTrip: 110) }
    #expect(busy.phase == .cruise)
  }

  // MARK: Competing traffic

  /// Ends the phase `down` with many losses in the queue that a probe has filled.
  private func overflow(_ bench: inout CongestionBench) {
    bench.record(100, lost: 100)
    bench.round()
  }

  @Test func `a flow competes after two probes in a row that overflowed the queue`() {
    var bench = CongestionBench.afterProbe()
    overflow(&bench)
    #expect(bench.phase == .cruise && bench.controller.bandwidth == 0.85e6)
    #expect(bench.controller.competition.overflows == 1)
    while bench.phase == .cruise { bench.round(0.85e6) }
    bench.round(0.85e6)
    overflow(&bench)
    #expect(bench.phase == .compete && bench.controller.competition.overflows == 0)
    let start = bench.now
    while bench.phase == .compete { bench.round() }
    #expect(bench.now == start + 8_000, "the first check for competing traffic")
  }

  @Test func `the losses that make a flow compete reduce its window once`() {
    var bench = CongestionBench.afterProbe()
    bench.controller.competition.lastSeen = bench.now * 1_000_000
    overflow(&bench)
    // 0.85 of what fills the path.
    #expect(bench.phase == .compete && bench.controller.window == 85_000)
    #expect(bench.controller.competition.lastSeen == bench.now * 1_000_000)
    bench.round(acknowledged: 10_000)
    #expect(bench.controller.window == 86_000, "no loss yet: a tenth of the acknowledged bytes")
  }

  @Test func `a probe that did not overflow the queue ends the suspicion`() {
    var bench = CongestionBench.afterProbe()
    overflow(&bench)
    bench.finishCruise()
    bench.round()
    #expect(bench.phase == .cruise && bench.controller.competition.overflows == 0)
    bench.finishCruise()
    overflow(&bench)
    #expect(bench.phase == .cruise && bench.controller.competition.overflows == 1)
  }

  @Test func `one overflow is enough within 30 s of competing`() {
    for (seconds, phase) in [(29, CongestionBench.Phase.compete), (31, .cruise)] {
      var bench = CongestionBench.afterProbe()
      bench.controller.competition.lastSeen = (bench.now + 100 - Int64(seconds) * 1_000) * 1_000_000
      overflow(&bench)
      #expect(bench.phase == phase)
    }
  }

  /// A controller that competes because a queue of 50 ms persisted although its rate fell.
  private func competing() -> CongestionBench {
    var bench = CongestionBench.cruising()
    bench.round(roundTrip: 150, inFlight: 1_000_000)
    var rate = 1e6
    for count in 1...8 {
      #expect(bench.phase != .compete, "round \(count)")
      rate *= 0.9
      bench.round(rate, roundTrip: 150, acknowledged: 0, inFlight: 1_000_000)
    }
    #expect(bench.phase == .compete)
    return bench
  }

  @Test func `a flow competes when a queue persists for eight rounds although it backs off`() {
    let controller = competing().controller
    // The bandwidth before the queue, 1 MB/s, for the smoothed round trip; 1.2 times each of them.
    let window = Double(controller.roundTrip.smoothed) / 1_000
    #expect((Double(controller.window) - window).magnitude <= 1)
    #expect((controller.rate - 1.2e6).magnitude < 1)
  }

  @Test func `the window of a competing flow follows acknowledgements and losses`() {
    var bench = competing()
    let window = bench.controller.window
    bench.round(roundTrip: 150, acknowledged: 10_000)
    #expect(bench.controller.window == window + 1_000, "a tenth of the acknowledged bytes")
    bench.round(roundTrip: 150, acknowledged: 10_000, isAppLimited: true)
    #expect(bench.controller.window == window + 1_000)
    #expect(bench.controller.competition.lastSeen == bench.now * 1_000_000)
    bench.record(100, lost: 100)
    bench.round(roundTrip: 150, acknowledged: 0, isRoundStart: false)
    #expect(bench.controller.window == window + 1_000, "losses count at the end of a round")
    bench.round(roundTrip: 150, acknowledged: 0)
    let reduced = 0.7 * Double(window + 1_000)
    #expect((Double(bench.controller.window) - reduced).magnitude <= 1)
  }

  @Test func `a probe shows whether other traffic still fills the queue`() {
    for (roundTrip, phase) in [
      (125, CongestionBench.Phase.cruise), (126, .compete),
    ] as [(Int64, CongestionBench.Phase)] {
      var bench = competing()
      var last = bench.now
      for interval in [2_000, 4_000] as [Int64] {
        while bench.phase == .compete { bench.round(roundTrip: roundTrip) }
        #expect((interval..<interval + roundTrip).contains(bench.now - last))
        #expect(bench.phase == .probeRoundTrip)
        last = bench.now
        bench.round(roundTrip: roundTrip, isRoundStart: false)
        #expect(bench.phase == .probeRoundTrip)
        bench.round(roundTrip: roundTrip)
        #expect(bench.phase == phase && bench.controller.roundTrip.minimum == 100_000_000)
        #expect((bench.controller.competitiveMode == nil) == (phase == .cruise))
        guard phase == .compete else { break }
      }
    }
  }
}
