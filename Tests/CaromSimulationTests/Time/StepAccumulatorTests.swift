import CaromCore
import Testing

@testable import CaromSimulation

private func makeInstant(_ duration: Duration) -> Instant { .zero.advanced(by: duration) }

@Test(arguments: [30, 60, 144])
func `twenty-four hours make exactly their steps`(rate: Int) {
  var steps = StepAccumulator(rate: rate, from: .zero)
  var generator = SeededGenerator(seed: UInt64(rate))
  let end = makeInstant(.seconds(86_400))
  var now = Instant.zero
  #if DEBUG
    let longest = Duration.milliseconds(240)
  #else
    let longest = Duration.milliseconds(100)
  #endif
  while now < end {
    now = min(end, now + generator.duration(in: .nanoseconds(1)...longest))
    _ = steps.advance(to: now)
  }
  #expect(steps.totalSteps == UInt64(86_400 * rate))
  #expect(steps.totalDropped == 0)
}

@Test func `a step is due at its nanosecond and not before`() {
  var steps = StepAccumulator(rate: 60, from: .zero)
  for step in 1...1_000 {
    let due = steps.nextStep
    #expect(due.nanoseconds == (Int64(step) * 1_000_000_000 + 59) / 60)
    #expect(steps.advance(to: Instant(nanoseconds: due.nanoseconds - 1)).due == 0)
    #expect(steps.advance(to: due) == StepAccumulator.Steps(due: 1))
  }
}

@Test
func
  `after a minute's sleep a quarter of a second is caught up and the rest is counted as dropped`()
{
  var steps = StepAccumulator(rate: 60, from: .zero)
  #expect(steps.advance(to: makeInstant(.seconds(60))) == .init(due: 15, dropped: 3_585))
  #expect(steps.totalSteps == 15)
  #expect(steps.totalDropped == 3_585)
  #expect(steps.advance(to: makeInstant(.seconds(61))) == .init(due: 15, dropped: 45))
}

@Test func `a clock that stands still or goes backwards makes no steps`() {
  var steps = StepAccumulator(rate: 60, from: makeInstant(.seconds(5)))
  #expect(steps.advance(to: .zero).due == 0)
  #expect(steps.advance(to: makeInstant(.seconds(5))).due == 0)
  #expect(steps.advance(to: makeInstant(.milliseconds(5_100))).due == 6)
  #expect(steps.advance(to: makeInstant(.milliseconds(5_000))).due == 0)
  #expect(steps.advance(to: makeInstant(.milliseconds(5_200))).due == 6)
}

@Test func `the fraction grows from one step to the next`() {
  var steps = StepAccumulator(rate: 100, from: .zero)
  _ = steps.advance(to: makeInstant(.milliseconds(30)))
  #expect(steps.fraction(at: makeInstant(.milliseconds(30))) == 0)
  #expect(steps.fraction(at: makeInstant(.milliseconds(35))) == 0.5)
  #expect(steps.fraction(at: makeInstant(.milliseconds(80))) == 1)
  #expect(steps.fraction(at: .zero) == 0)
}

@Test(
  arguments: [(.milliseconds(100), 3), (.milliseconds(101), 4), (.zero, 1), (.seconds(2), 60)]
    as [(Duration, Int)])
func `one call catches up as many steps as begin within the given time, and at least one`(
  catchUp: Duration, due: Int
) {
  var steps = StepAccumulator(rate: 30, from: .zero, catchUp: catchUp)
  let expected = StepAccumulator.Steps(due: due, dropped: 300 - due)
  #expect(steps.advance(to: makeInstant(.seconds(10))) == expected)
  #expect(steps.totalSteps == UInt64(due) && steps.totalDropped == UInt64(300 - due))
  #expect(steps.nextStep == makeInstant(.seconds(10)).advanced(byNanoseconds: 33_333_334))
  #expect(steps.rate == 30)
}
