import CaromCore
import Testing

@Suite struct InstantTests {
  @Test func `instants and durations can be added and subtracted`() {
    let later = Instant.zero + .milliseconds(1_500)
    #expect(later == Instant(nanoseconds: 1_500_000_000))
    #expect(later - .zero == .milliseconds(1_500))
    #expect(Instant.zero - later == .milliseconds(-1_500))
    #expect(later.duration(to: .zero) == .milliseconds(-1_500))
    #expect(.zero < later && later < .distantFuture)
  }

  @Test func `instants are clamped to their range`() {
    #expect(Instant.distantFuture + .seconds(1) == .distantFuture)
    #expect(Instant(nanoseconds: .min) + .seconds(-1) == Instant(nanoseconds: .min))
    #expect(Instant.zero + .seconds(Int64.max) == .distantFuture)
  }

  @Test func `the duration between the earliest and the latest instant is exact`() {
    let all = Instant.distantFuture - Instant(nanoseconds: .min)
    #expect(all == .nanoseconds(Int64.max) - .nanoseconds(Int64.min))
  }

  @Test(
    arguments: [
      (Duration.zero, 0), (.nanoseconds(-1), -1), (.seconds(-2) + .nanoseconds(1), -1_999_999_999),
      (.nanoseconds(Int64.max), .max), (.nanoseconds(Int64.min), .min),
      (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
      (.nanoseconds(Int64.max) + .nanoseconds(1), .max),
      (.nanoseconds(Int64.min) - .nanoseconds(1), .min),
      (Duration(secondsComponent: 0, attosecondsComponent: 999_999_999), 0),
      (Duration(secondsComponent: 0, attosecondsComponent: -1_999_999_999), -1),
    ] as [(Duration, Int64)])
  func `whole nanoseconds go towards zero and stop at the ends`(duration: Duration, whole: Int64) {
    #expect(duration.wholeNanoseconds == whole)
  }

  @Test func `an instant minus a duration is an earlier instant`() {
    #expect(Instant(nanoseconds: 5_000) - .microseconds(2) == Instant(nanoseconds: 3_000))
    #expect(Instant.zero - .nanoseconds(1) == Instant(nanoseconds: -1))
    let start = Instant(nanoseconds: 5_000)
    #expect(start - .zero == .nanoseconds(5_000))
  }

  @Test func `milliseconds have a fraction`() {
    #expect(Duration.microseconds(1_250).inMilliseconds == 1.25)
    #expect(Duration.seconds(-1).inMilliseconds == -1_000)
  }

  @Test func `the earliest deadline is returned, and nil counts as none`() {
    let (a, b) = (Instant(nanoseconds: 1), Instant(nanoseconds: 2))
    #expect(earliest(a, b) == a && earliest(b, a) == a)
    #expect(earliest(nil, b) == b && earliest(a, nil) == a)
    #expect(earliest(nil, nil) == nil)
  }
}
