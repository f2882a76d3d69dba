import CaromCore
import Testing

@testable import CaromDNS

/// When a name may be probed for again after conflicts (RFC 6762 §8.1, §9).
@Suite struct ConflictHistoryTests {
  private func time(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  /// A history of 14 conflicts at time 0.
  private func makeHistory() -> ConflictHistory {
    var history = ConflictHistory()
    for _ in 0..<14 {
      let next = history.record(at: .zero)
      #expect(next == .zero)
    }
    return history
  }

  @Test func `R40: fifteen conflicts within ten seconds slow probing down to once in five`() {
    for (milliseconds, isSlowed) in [(0, true), (9_999, true), (10_000, false)] as [(Int64, Bool)] {
      var history = makeHistory()
      let now = time(milliseconds)
      let next = history.record(at: now)
      #expect(next == (isSlowed ? now + .seconds(5) : now), "after \(milliseconds) ms")
      // Probing stays slow until a name is claimed.
      let later = history.record(at: now + .seconds(20))
      #expect(later == now + .seconds(isSlowed ? 25 : 20))
    }
  }

  @Test func `R40: a name that was claimed meanwhile leaves the conflicts of ten seconds`() {
    var history = makeHistory()
    history.reset()
    let next = history.record(at: time(9_999))
    #expect(next == time(14_999))
    history.reset()
    let late = history.record(at: time(20_000))
    #expect(late == time(20_000))
  }

  @Test func `R49: the search for a free name ends a minute after the first conflict`() {
    var history = ConflictHistory()
    let times = [(1, 1), (60_001, 60_001), (60_002, nil)] as [(Int64, Int64?)]
    for (now, next) in times {
      let result = history.record(at: time(now))
      #expect(result == next.map(time))
    }
    let tiebreaks = [60_001, 60_002].map { history.recordLostTiebreak(at: time($0)) }
    #expect(tiebreaks == [true, false])
    // Once a name is claimed, the next conflict begins another minute.
    history.reset()
    let again = [100_000, 160_000, 160_001].map { history.recordLostTiebreak(at: time($0)) }
    #expect(again == [true, true, false])
  }

  @Test func `R39: lost tiebreaks do not slow probing down`() {
    var history = ConflictHistory()
    for _ in 0..<30 { _ = history.recordLostTiebreak(at: .zero) }
    let next = history.record(at: .zero)
    #expect(next == .zero)
  }

  @Test func `R49: after two lost names the next is one of 10, and then of up to 1280`() {
    var history = ConflictHistory()
    let choices = (0..<12).map { _ in history.recordLoss() }
    #expect(choices == [1, 1, 10, 20, 40, 80, 160, 320, 640, 1_280, 1_280, 1_280])
    for _ in 0..<100 { _ = history.recordLoss() }
    let last = history.recordLoss()
    history.reset()
    let first = history.recordLoss()
    #expect(last == 1_280 && first == 1)
  }
}
