import CaromCore
import Testing

@testable import CaromSimulation

@Suite struct ClockPaceTests {
  @Test func `at full speed the clock makes the same ticks as the accumulator`() {
    var pace = ClockPace(rate: 60, from: .zero)
    var steps = StepAccumulator(rate: 60, from: .zero)
    for _ in 0..<2_000 {
      let due = pace.nextTick
      #expect(due == steps.nextStep)
      #expect(pace.advance(to: due) == steps.advance(to: due))
    }
  }

  @Test(arguments: [950_000, 980_000, 1_020_000, 1_050_000])
  func `a changed speed counts every nanosecond`(speed: Int) {
    var pace = ClockPace(rate: 60, from: .zero)
    pace.setSpeed(speed, at: .zero)
    var made = 0
    var generator = SeededGenerator(seed: 2)
    var now = Instant.zero
    let end = Instant.zero + .seconds(1_000)
    while now < end {
      now = min(end, now + generator.duration(in: .nanoseconds(1) ... .milliseconds(50)))
      made += pace.advance(to: now).due
    }
    #expect(made == 1_000 * 60 * speed / 1_000_000)
  }

  @Test func `a tick is due at its time and not before, whatever the speed`() {
    var pace = ClockPace(rate: 60, from: .zero)
    var generator = SeededGenerator(seed: 4)
    for _ in 0..<2_000 {
      let due = pace.nextTick
      #expect(pace.advance(to: due.advanced(byNanoseconds: -1)).due == 0)
      #expect(pace.advance(to: due).due == 1)
      pace.setSpeed(Int.random(in: 950_000...1_050_000, using: &generator), at: due)
    }
  }

  @Test func `the speed stays within 5 %`() {
    var pace = ClockPace(rate: 60, from: .zero)
    pace.setSpeed(2_000_000, at: .zero)
    #expect(pace.speed == 1_050_000)
    pace.setSpeed(0, at: .zero)
    #expect(pace.speed == 950_000)
    #expect(ClockSync.speed(lead: 3, rate: 60) == 980_000)
    #expect(ClockSync.speed(lead: -9, rate: 60) == 1_050_000)
    #expect(ClockSync.speed(lead: 0, rate: 60) == 1_000_000)
  }

  @Test func `a speed applies from the given time on`() {
    var pace = ClockPace(rate: 50, from: .zero)
    let now = Instant.zero + .milliseconds(10)
    pace.setSpeed(1_050_000, at: now)
    #expect(pace.fraction(at: now) == 0.5)
    // The other half of 20 ms takes 10 ms / 1.05, rounded up to a whole nanosecond.
    #expect(pace.nextTick == now.advanced(byNanoseconds: 9_523_810))
    #expect(abs(pace.fraction(at: now + .milliseconds(4)) - 0.71) < 1e-9)
    #expect(pace.fraction(at: now) == 0.5)
    #expect(pace.rate == 50)
    pace.setSpeed(950_000, at: now + .milliseconds(4))
    // 20 - 10 - 4.2 ms are left.
    #expect(pace.nextTick == now.advanced(byNanoseconds: 4_000_000 + 6_105_264))
  }

  @Test func `a clock that goes backwards changes nothing, and a late tick is due at once`() {
    var pace = ClockPace(rate: 50, from: .zero + .seconds(1))
    let due = pace.nextTick
    #expect(due == .zero + .milliseconds(1_020))
    #expect(pace.advance(to: .zero).due == 0)
    #expect(pace.nextTick == due)
    #expect(pace.fraction(at: due + .milliseconds(50)) == 1)
    pace.setSpeed(1_000_000, at: due + .milliseconds(5))
    #expect(pace.nextTick == due + .milliseconds(5))
    #expect(pace.advance(to: due + .milliseconds(5)).due == 1)
  }
}
