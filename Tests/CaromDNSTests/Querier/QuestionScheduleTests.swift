import CaromCore
import Testing

@testable import CaromDNS

/// The schedule of one question on one link (RFC 6762 §5.2, §7.3), in milliseconds.
@Suite struct QuestionScheduleTests {
  private func time(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  private func next(_ schedule: QuestionSchedule) -> Int64? {
    schedule.next.map { $0.nanoseconds / 1_000_000 }
  }

  /// A question that was asked for the first time at 0, and is due again at 1,000.
  private func makeAsked(wantsUnicast: Bool = false) -> QuestionSchedule {
    var schedule = QuestionSchedule(link: 2, start: .zero)
    schedule.markAsked(at: .zero, wantsUnicast: wantsUnicast)
    return schedule
  }

  @Test func `R3: the intervals double from a second to an hour`() {
    var schedule = QuestionSchedule(link: 2, start: time(70))
    #expect(next(schedule) == 70 && schedule.isFirst && schedule.link == 2)
    var now = time(70)
    var gaps: [Int64] = []
    for _ in 0..<15 {
      schedule.markAsked(at: now)
      guard let due = schedule.next else { break }
      gaps.append((due - now).components.seconds)
      now = due
    }
    #expect(gaps == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600, 3600])
    #expect(!schedule.isFirst)
  }

  @Test func `R34: another host's question counts from half of the interval on`() {
    for (now, due) in [(0, 1_000), (499, 1_000), (500, 2_500), (900, 2_900)] as [(Int64, Int64)] {
      var schedule = makeAsked()
      schedule.suppressDuplicate(at: time(now))
      #expect(next(schedule) == due)
    }
    // Before the first question of this host, any question counts.
    var new = QuestionSchedule(link: 2, start: time(100))
    new.suppressDuplicate(at: time(20))
    #expect(next(new) == 1_020 && !new.isFirst)
    // The second interval is twice as long, and so is its half.
    new.markAsked(at: time(1_020))
    new.suppressDuplicate(at: time(2_019))
    #expect(next(new) == 3_020)
    new.suppressDuplicate(at: time(2_020))
    #expect(next(new) == 6_020)
  }

  @Test func `R5: a suspended question is asked only when it is refreshed, and then once`() {
    var schedule = makeAsked()
    schedule.suspend()
    #expect(next(schedule) == nil)
    schedule.suppressDuplicate(at: time(600))
    #expect(next(schedule) == nil)
    schedule.refresh(at: time(5_000))
    #expect(next(schedule) == 5_000)
    schedule.markAsked(at: time(5_000))
    #expect(next(schedule) == nil)
    // Not within a second of the last time.
    schedule.refresh(at: time(5_400))
    #expect(next(schedule) == 6_000)
    schedule.refresh(at: time(6_500))
    #expect(next(schedule) == 6_000, "an earlier time stays")
  }

  @Test func `a refreshed question that is not suspended is asked earlier, never later`() {
    var schedule = makeAsked()
    schedule.markAsked(at: time(1_000))
    #expect(next(schedule) == 3_000)
    schedule.refresh(at: time(1_500))
    #expect(next(schedule) == 2_000)
    schedule.refresh(at: time(9_000))
    #expect(next(schedule) == 2_000)
    schedule.markAsked(at: time(2_000))
    #expect(next(schedule) == 6_000, "the intervals go on growing")
  }

  @Test func `a restarted question begins with an interval of a second, after the pause`() {
    for (start, pause, due) in [
      (700, 1_000, 5_000), (5_200, 1_000, 5_200), (4_100, 15_000, 19_000), (30_000, 15_000, 30_000),
    ] as [(Int64, Int64, Int64)] {
      var schedule = makeAsked()
      schedule.markAsked(at: time(1_000))
      schedule.markAsked(at: time(4_000))
      schedule.suspend()
      schedule.restart(at: time(start), pause: .milliseconds(pause))
      #expect(next(schedule) == due && !schedule.isFirst)
      schedule.markAsked(at: time(due))
      #expect(next(schedule) == due + 1_000)
    }
    var new = QuestionSchedule(link: 2, start: time(100))
    new.restart(at: time(40))
    #expect(next(new) == 40 && new.isFirst)
  }

  @Test func `R46: a question on a link that is new again is asked at once, as for the first time`()
  {
    var schedule = makeAsked()
    schedule.markAsked(at: time(1_000))
    schedule.suspend()
    schedule.reset(at: time(1_200))
    #expect(next(schedule) == 1_200 && schedule.isFirst)
    schedule.markAsked(at: time(1_200))
    #expect(next(schedule) == 2_200)
  }

  @Test func `only a suspended question is resumed, with the interval that it had`() {
    var schedule = makeAsked()
    schedule.markAsked(at: time(1_000))
    schedule.resume(at: time(1_500))
    #expect(next(schedule) == 3_000)
    schedule.suspend()
    schedule.resume(at: time(2_000))
    #expect(next(schedule) == 6_000)
    schedule.markAsked(at: time(6_000))
    #expect(next(schedule) == 14_000)
  }

  @Test func `R10: a unicast response counts for two seconds after the query that asked for it`() {
    let asked = makeAsked(wantsUnicast: true)
    #expect([0, 1_999, 2_000].allSatisfy { asked.expectsUnicast(at: time($0)) })
    #expect(!asked.expectsUnicast(at: time(2_000).advanced(byNanoseconds: 1)))
    #expect(!makeAsked().expectsUnicast(at: .zero))
    var again = asked
    again.markAsked(at: time(1_000))
    #expect(again.expectsUnicast(at: time(2_000)) && !again.expectsUnicast(at: time(2_001)))
    // A question of another host asks for nothing.
    var other = QuestionSchedule(link: 2, start: time(100))
    other.suppressDuplicate(at: time(20))
    #expect(!other.expectsUnicast(at: time(20)))
  }
}
