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
}
