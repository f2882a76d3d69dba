import Testing

@testable import CaromProtocol

/// When a packet is declared lost, and when a probe is sent (RFC 8985). Times are in milliseconds.
@Suite struct LossDetectorTests {
  private static let ms: Int64 = 1_000_000

  /// A detector on a path whose round trip always takes `roundTrip`.
  private struct Bench {
    var detector = LossDetector()
    var roundTrip = RoundTripEstimator()

    init(roundTrip time: Int64 = 100) { roundTrip.add(time * ms, at: 0) }

    mutating func acknowledge(_ number: UInt64, sent: Int64, at now: Int64) {
      detector.recordAcknowledged(number, sent: sent * ms, at: now * ms)
    }

    func deadline(of number: UInt64, sent: Int64) -> Int64? {
      detector.lossDeadline(of: number, sent: sent * ms, roundTrip).map { $0 / ms }
    }

    func probe(asked: Int64) -> Int64 {
      detector.probeDeadline(asked: asked * ms, roundTrip) / ms
    }
  }

  @Test func `only a packet sent before an acknowledged one has a loss deadline`() {
    var bench = Bench()
    #expect(bench.detector.largestAcknowledged == nil && bench.deadline(of: 0, sent: 0) == nil)
    bench.acknowledge(5, sent: 10, at: 115)
    #expect(bench.detector.largestAcknowledged == 5)
    // The packet's number and send time, and its deadline: at once if it is three numbers lower,
    // otherwise a round trip of 105 ms and a quarter of the shortest one after it was sent.
    let rows: [(UInt64, Int64, Int64?)] = [
      (6, 10, nil), (5, 10, nil), (4, 11, nil), (4, 10, 140), (4, 9, 139), (3, 8, 138), (2, 8, 8),
      (0, 0, 0),
    ]
    for (number, sent, deadline) in rows {
      #expect(bench.deadline(of: number, sent: sent) == deadline, "packet \(number)")
    }
  }

  @Test func `the round trip of the acknowledged packet that was sent last counts`() {
    var bench = Bench()
    bench.acknowledge(5, sent: 10, at: 110)
    bench.acknowledge(6, sent: 20, at: 130)
    #expect(bench.deadline(of: 5, sent: 15) == 150)
    bench.acknowledge(4, sent: 5, at: 300)
    #expect(bench.detector.largestAcknowledged == 6)
    #expect(bench.deadline(of: 5, sent: 15) == 150)
  }

  /// RFC 8985, section 6.2.
  @Test func `once packets were reordered a gap of three numbers is no loss`() {
    var bench = Bench()
    bench.acknowledge(9, sent: 10, at: 110)
    #expect(bench.deadline(of: 6, sent: 10) == 10)
    bench.acknowledge(8, sent: 10, at: 110)
    #expect(bench.deadline(of: 6, sent: 10) == 135)
    bench.detector.resetPath()
    #expect(bench.deadline(of: 6, sent: 10) == 10)
    bench.detector.noteSpuriousLoss(bench.roundTrip)
    #expect(bench.deadline(of: 6, sent: 10) == 160)
  }

  @Test func `each spurious loss widens the reordering window up to one round trip`() {
    var bench = Bench()
    bench.acknowledge(9, sent: 10, at: 110)
    let deadlines = (0..<6).map { _ in
      bench.detector.noteSpuriousLoss(bench.roundTrip)
      return bench.deadline(of: 8, sent: 10)
    }
    #expect(deadlines == [160, 185, 210, 210, 210, 210])
    // The smoothed round trip rises to 110 ms, and so does the longest window.
    bench.roundTrip.add(180 * Self.ms, at: 0)
    bench.detector.noteSpuriousLoss(bench.roundTrip)
    #expect(bench.deadline(of: 8, sent: 10) == 220)
    bench.detector.resetPath()
    #expect(bench.deadline(of: 8, sent: 10) == 135)
  }

  @Test func `the reordering window is short again after 64 losses that were not spurious`() {
    var bench = Bench()
    bench.acknowledge(9, sent: 10, at: 110)
    bench.detector.noteSpuriousLoss(bench.roundTrip)
    for _ in 0..<63 { bench.detector.recordLoss() }
    bench.detector.noteSpuriousLoss(bench.roundTrip)
    for _ in 0..<63 { bench.detector.recordLoss() }
    #expect(bench.deadline(of: 8, sent: 10) == 185)
    bench.detector.recordLoss()
    #expect(bench.deadline(of: 8, sent: 10) == 135)
    bench.detector.noteSpuriousLoss(bench.roundTrip)
    bench.detector.recordLoss()
    #expect(bench.deadline(of: 8, sent: 10) == 160, "the losses are counted from zero")
  }

  // MARK: Probes

  @Test func `a probe is sent two round trips after the packet that asked for an answer`() {
    var bench = Bench()
    #expect(bench.probe(asked: 40) == 240)
    // While acknowledgements arrive, the probe waits for a quarter of a round trip after the last.
    bench.detector.recordAnswer(at: 220 * Self.ms)
    #expect(bench.probe(asked: 40) == 245 && bench.probe(asked: 50) == 250)
  }

  @Test func `the interval between probes doubles from the third, up to a second`() {
    var bench = Bench()
    for (number, pause) in [200, 200, 400, 800, 1_000, 1_000].enumerated() {
      bench.detector.recordProbe(at: 7_000 * Self.ms)
      #expect(bench.detector.probes == number + 1)
      #expect(bench.probe(asked: 6_999) == 7_000 + Int64(pause))
    }
    bench.detector.recordAnswer(at: 0)
    #expect(bench.detector.probes == 0 && bench.probe(asked: 40) == 240)
    bench.detector.recordProbe(at: 0)
    bench.detector.resetPath()
    #expect(bench.detector.probes == 0)
  }

  @Test func `on a path with a long round trip the interval between probes stays the same`() {
    var bench = Bench(roundTrip: 700)
    for _ in 0..<40 {
      bench.detector.recordProbe(at: 0)
      #expect(bench.probe(asked: 0) == 1_400)
    }
  }
}
