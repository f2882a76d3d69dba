import CaromCore
import Testing

@testable import CaromDNS

/// The timers of a name's probes and of a record's announcements (RFC 6762 §8).
@Suite struct ProbeTimerTests {
  private func time(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  /// What a prober does at each of `times`, in milliseconds: "p" for a probe, "c" for the claim.
  private func actions(_ prober: inout Prober, at times: [Int64]) -> String {
    times.map { milliseconds in
      switch prober.handleTimeout(at: time(milliseconds)) {
      case .probe: "p"
      case .claim: "c"
      case nil: "-"
      }
    }.joined()
  }

  @Test func `R36: three probes follow each other after 250 ms, and 250 ms later the claim`() {
    var prober = Prober(start: time(100))
    #expect(prober.nextTimeout == time(100) && !prober.hasAsked && !prober.isProbing)
    #expect(actions(&prober, at: [99, 100, 100]) == "-p-")
    #expect(prober.nextTimeout == time(350) && prober.hasAsked && prober.isProbing)
    #expect(actions(&prober, at: [349, 350, 599, 600, 849]) == "-p-p-")
    #expect(prober.nextTimeout == time(850) && prober.isProbing)
    #expect(actions(&prober, at: [850, 851, 10_000]) == "c--")
    #expect(prober.nextTimeout == nil && prober.hasAsked && !prober.isProbing)
  }

  @Test func `R36: after a late probe, the next one waits 250 ms all the same`() {
    var prober = Prober(start: time(0))
    #expect(actions(&prober, at: [900, 1_149, 1_150, 2_000, 2_249, 2_250]) == "p-pp-c")
  }

  @Test func `R39: the loser of a tiebreak probes three times again, from the given time on`() {
    var prober = Prober(start: time(0))
    #expect(actions(&prober, at: [0, 250]) == "pp")
    prober.yield(until: time(1_300))
    #expect(prober.nextTimeout == time(1_300) && prober.hasAsked && !prober.isProbing)
    // A second tiebreak is not lost while the prober waits.
    prober.yield(until: time(9_000))
    #expect(actions(&prober, at: [500, 1_299, 1_300]) == "--p" && prober.isProbing)
    #expect(actions(&prober, at: [1_549, 1_550, 1_800, 2_049, 2_050]) == "-pp-c")
    prober.yield(until: time(9_000))
    #expect(prober.nextTimeout == nil)
  }

  @Test func `R43: a record is announced twice, a second apart`() {
    var announcer = Announcer(start: time(100))
    let isDue = [99, 100, 100, 1_099, 1_100, 1_100, 2_100, 9_000].map {
      announcer.handleTimeout(at: time($0))
    }
    #expect(isDue == [false, true, false, false, true, false, false, false])
    #expect(announcer.nextTimeout == nil)
    var late = Announcer(start: time(100))
    _ = late.handleTimeout(at: time(700))
    #expect(late.nextTimeout == time(1_700))
  }

  /// The times in milliseconds for which changes at `times` are scheduled to be announced.
  private func schedule(_ history: inout UpdateHistory, at times: [Int64]) -> [Int64] {
    times.map { history.schedule(at: time($0)).nanoseconds / 1_000_000 }
  }

  @Test func `R45: changes are announced at once, but at most once a second`() {
    var history = UpdateHistory()
    #expect(
      schedule(&history, at: [0, 400, 999, 1_000, 1_001, 1_999, 2_500, 9_000])
        == [0, 1_000, 1_000, 2_000, 2_000, 2_000, 3_000, 9_000])
  }

  @Test func `R45: beyond ten changes in a minute, one is announced 1.5 s after the last`() {
    var history = UpdateHistory()
    let first = (0..<10).map { Int64(1_000 * $0) }
    #expect(schedule(&history, at: first) == first)
    // Each further change postpones the announcement, until the minute is over.
    #expect(schedule(&history, at: [9_001, 9_500, 10_900]) == [10_501, 11_000, 12_400])
    // Of the last ten announcements, the first was now after 1 s.
    #expect(schedule(&history, at: [20_000]) == [21_500])
    // After 3 s: the change may be announced at 62 s, however many follow.
    #expect(schedule(&history, at: [60_400, 60_600, 61_900]) == [61_900, 62_000, 62_000])
    #expect(schedule(&history, at: [200_000, 200_001]) == [200_000, 201_000])
  }
}
