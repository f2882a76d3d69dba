import Testing

@testable import CaromProtocol

/// How a flow detects competing traffic, and its window while it competes (RFC 9438).
@Suite struct CompetitionTests {
  private static let second: Int64 = 1_000_000_000

  // MARK: Detection

  /// A detector after `rounds` rounds with a full queue of 40 ms, after which the flow had backed
  /// off from 1,000 to 950 bytes per second.
  private func detector(rounds: Int) -> CompetitionDetector {
    var detector = CompetitionDetector()
    for round in 0..<rounds {
      detector.recordFullQueue(round == 0 ? 40 : 90, bandwidth: round == 0 ? 1_000 : 700)
      detector.recordBackoff(to: round == 0 ? 950 : 600)
    }
    return detector
  }

  @Test func `other traffic is suspected after eight full rounds that cost bandwidth`() {
    // The number of rounds, the queue and the bandwidth.
    let rows: [(Int, Int64, Double, Bool)] = [
      (7, 40, 700, false), (8, 40, 700, true), (9, 40, 700, true), (8, 20, 700, true),
      (8, 19, 700, false), (8, 40, 759, true), (8, 40, 761, false),
    ]
    for (rounds, queue, bandwidth, isSuspected) in rows {
      let detector = detector(rounds: rounds)
      #expect(detector.isSuspected(queue: queue, bandwidth: bandwidth) == isSuspected)
      #expect(detector.bandwidthBeforeQueue == 1_000)
    }
  }

  @Test func `an empty queue and competitive mode end the suspicion`() {
    var empty = detector(rounds: 7)
    empty.recordEmptyQueue()
    empty.recordFullQueue(50, bandwidth: 800)
    #expect(empty.bandwidthBeforeQueue == 800)
    #expect(!empty.isSuspected(queue: 50, bandwidth: 1))
    var competing = detector(rounds: 8)
    competing.overflows = 2
    competing.reset()
    #expect(!competing.isSuspected(queue: 40, bandwidth: 1) && competing.overflows == 0)
  }

  @Test func `competing traffic is remembered for 30 s`() {
    var detector = CompetitionDetector()
    #expect(!detector.isRecent(at: 0) && detector.roundTripPatience(at: 0) == 0)
    detector.lastSeen = 5
    #expect(detector.isRecent(at: 4 + 30 * Self.second))
    #expect(detector.roundTripPatience(at: 4 + 30 * Self.second) == 60 * Self.second)
    #expect(!detector.isRecent(at: 5 + 30 * Self.second))
    #expect(detector.roundTripPatience(at: 5 + 30 * Self.second) == 0)
  }

  // MARK: The window

  /// A window of 100 packets of 1,000 bytes.
  private func mode() -> CompetitiveMode {
    CompetitiveMode(window: 100_000, packetSize: 1_000, checkInterval: 2 * Self.second, at: 0)
  }

  /// The window in packets after a whole window was acknowledged.
  private func grown(_ mode: CompetitiveMode, roundTrip: Int64, at now: Int64) -> Double {
    var mode = mode
    mode.grow(
      acknowledged: Int(mode.window), roundTrip: roundTrip, packetSize: 1_000, at: now)
    return (mode.window / 10).rounded() / 100
  }

  @Test func `before the first loss the window grows by a tenth of the acknowledged bytes`() {
    var mode = mode()
    mode.grow(acknowledged: 5_000, roundTrip: 1, packetSize: 1_000, at: 100 * Self.second)
    #expect(mode.window == 100_500)
  }

  /// Section 4.2: W_cubic(t) = C(t - K)^3 + W_max, K = cbrt(W_max (1 - beta) / C) = 4.217 s.
  @Test func `after a loss the window keeps 0.7 and grows back as CUBIC does`() {
    var mode = mode()
    mode.reduce(packetSize: 1_000, at: 10 * Self.second)
    #expect((69_999...70_001).contains(mode.window))
    // The target is the window one round trip from now, 1 s.
    for (age, window) in [(1, 95.64), (2, 99.28), (3, 100), (4, 100.19), (5, 102.27)] {
      let now = Int64(10 + age) * Self.second
      #expect(grown(mode, roundTrip: Self.second, at: now) == window, "after \(age) s")
    }
    // In proportion to the acknowledged bytes.
    mode.grow(
      acknowledged: 7_000, roundTrip: Self.second, packetSize: 1_000, at: 13 * Self.second)
    #expect((mode.window / 10).rounded() == 7_300)
  }

  @Test func `the window grows by 0.53 packets a round trip at least, and by half at most`() {
    var mode = mode()
    mode.reduce(packetSize: 1_000, at: 0)
    // 20 round trips of 10 ms.
    #expect(grown(mode, roundTrip: 10_000_000, at: 190_000_000) == 80.6)
    #expect(grown(mode, roundTrip: Self.second, at: 20 * Self.second) == 105)
    // The window never shrinks towards a target: here 1.9988 packets after a loss at 2.
    mode = CompetitiveMode(window: 2_000, packetSize: 1_000, checkInterval: 1, at: 0)
    mode.reduce(packetSize: 1_000, at: 0)
    #expect(grown(mode, roundTrip: Self.second, at: 0) == 2)
  }

  /// Section 4.7.
  @Test func `a loss below the previous plateau leaves room for the other flows`() {
    var mode = mode()
    mode.reduce(packetSize: 1_000, at: 0)
    mode.reduce(packetSize: 1_000, at: 0)
    // From 49 packets towards 70 * 0.85 = 59.5, in cbrt(10.5 / 0.4) = 2.972 s.
    #expect((48_999...49_001).contains(mode.window))
    #expect(grown(mode, roundTrip: 1_000_000_000, at: 1_972_000_000) == 59.5)
  }

  @Test func `the window has at least two packets after a loss`() {
    var mode = mode()
    for _ in 0..<30 { mode.reduce(packetSize: 1_000, at: 0) }
    #expect(mode.window == 2_000)
  }

  @Test func `the interval between checks doubles from 2 s to 8 s`() {
    var mode = mode()
    var due = 2 * Self.second
    for interval in [4, 8, 8] as [Int64] {
      #expect(!mode.isCheckDue(at: due - 1) && mode.isCheckDue(at: due))
      mode.scheduleCheck(after: due)
      due += interval * Self.second
    }
    #expect(!mode.isCheckDue(at: due - 1) && mode.isCheckDue(at: due))
  }
}
