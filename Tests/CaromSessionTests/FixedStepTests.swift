import CaromCore
import CaromTransport
import Testing

@testable import CaromSession

/// FixedStep: the numbers of the ticks, and what happens to a task or a loop that falls behind.
@Suite(.timeLimit(.minutes(1))) struct FixedStepTests {
  @Test func `a task that falls behind gets the ticks of a quarter second, then a step that tells`()
    async throws
  {
    try await withNetworkLoop { loop in
      #expect(FixedStep.catchUpLimit == .milliseconds(250))
      let begin = loop.now
      var steps = FixedStep(hertz: 100, on: loop).makeAsyncIterator()
      #expect(await steps.next()?.tick.rawValue == 0)
      try await loop.sleep(until: loop.now + .milliseconds(400))
      var missed: [FixedStep.Step] = []
      for _ in 0..<25 { missed.append(try #require(await steps.next())) }
      #expect(missed.map(\.tick.rawValue) == Array(1...25))
      #expect(missed.map(\.dropped) == [Int](repeating: 0, count: 25))
      let late = try #require(await steps.next())
      let ticks = begin.duration(to: loop.now) / .milliseconds(10) + 1
      #expect(late.tick.rawValue == 26)
      #expect(Double(26 + late.dropped) < ticks)
      #expect(late.dropped >= 10 && late.lateness >= .zero)
      let next = try #require(await steps.next())
      #expect(next.tick.rawValue == 27 && next.dropped == 0)
    }
  }

  @Test func `a loop that stands still drops all ticks but those of a quarter second, once`()
    async
  {
    await withNetworkLoop { loop in
      let begin = loop.now
      let steps = await Task(executorPreference: loop) {
        var steps: [FixedStep.Step] = []
        for await step in FixedStep(hertz: 100, on: loop) {
          steps.append(step)
          if step.tick.rawValue == 2 {
            let end = loop.now + .milliseconds(600)
            while loop.now < end {}  // the loop's thread is busy
          }
          if steps.count == 40 { break }
        }
        return steps
      }.value
      let ticks = begin.duration(to: loop.now) / .milliseconds(10) + 1
      #expect(steps.map(\.tick.rawValue) == Array(0..<40))
      let dropped = steps.reduce(0) { $0 + $1.dropped }
      #expect(steps.allSatisfy { $0.dropped >= 0 && $0.lateness >= .zero })
      #expect(dropped >= 30 && Double(40 + dropped) <= ticks)
    }
  }

  @Test func `a rate below four ticks per second still catches up one tick`() async {
    await withNetworkLoop { loop in
      var steps = FixedStep(hertz: 1, on: loop).makeAsyncIterator()
      let first = await steps.next()
      #expect(first?.tick.rawValue == 0 && first?.dropped == 0)
    }
  }

  @Test func `each iterator has a clock of its own, which ends with its task`() async {
    await withNetworkLoop { loop in
      let sequence = FixedStep(hertz: 1_000, on: loop)
      for _ in 0..<2 {
        var steps = sequence.makeAsyncIterator()
        #expect(await steps.next()?.tick.rawValue == 0)
        #expect(await steps.next()?.tick.rawValue == 1)
      }
      let (firsts, first) = AsyncStream.makeStream(of: FixedStep.Step.self)
      let endless = Task { for await step in sequence { first.yield(step) } }
      for await step in firsts {
        #expect(step.tick.rawValue == 0)
        break
      }
      endless.cancel()
      await endless.value
    }
  }
}
