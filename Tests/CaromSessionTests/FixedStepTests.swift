import CaromCore
import CaromTransport
import TestClock
import Testing

@testable import CaromSession

/// FixedStep: the numbers of the ticks, and what happens to a task or a loop that falls behind.
@Suite(.timeLimit(.minutes(1))) struct FixedStepTests {
  #if os(Linux)
    @Test
    func `a task that falls behind gets the ticks of a quarter second, then a step that tells`()
      async throws
    {
      #expect(FixedStep.catchUpLimit == .milliseconds(250))
      try await withStoppedClock { loop, clock in
        var steps = FixedStep(hertz: 100, on: loop).makeAsyncIterator()
        // 41 ticks, of which 25 are stored.
        for _ in 0...40 { try await clock.advance(by: .milliseconds(10)) }
        var missed: [FixedStep.Step] = []
        for _ in 0..<25 { missed.append(try #require(await steps.next())) }
        #expect(missed.map(\.tick.rawValue) == Array(0..<25))
        #expect(missed.allSatisfy { $0.dropped == 0 && $0.lateness == .zero })
        for (tick, dropped) in [(25, 16), (26, 0)] as [(UInt64, Int)] {
          try await clock.advance(by: .milliseconds(10))
          let step = try #require(await steps.next())
          #expect(step.tick.rawValue == tick && step.dropped == dropped)
        }
      }
    }

    @Test func `a loop that stands still drops all ticks but those of a quarter second, once`()
      async throws
    {
      try await withStoppedClock { loop, clock in
        var iterator = FixedStep(hertz: 100, on: loop).makeAsyncIterator()
        var steps: [FixedStep.Step] = []
        // The loop stands still between the ticks 2 and 63.
        for milliseconds in [0, 10, 10, 615, 5] {
          try await clock.advance(by: .milliseconds(milliseconds))
          let count = milliseconds == 615 ? 25 : 1
          for _ in 0..<count { steps.append(try #require(await iterator.next())) }
        }
        #expect(steps.map(\.tick.rawValue) == Array(0..<29))
        #expect(steps.enumerated().allSatisfy { $1.dropped == ($0 == 3 ? 36 : 0) })
        #expect(steps.map(\.lateness).max() == .milliseconds(5))
      }
    }

    /// Runs `body` on the thread of a loop, whose clock is stopped.
    private func withStoppedClock(
      _ body: @escaping @Sendable (NetworkLoop, StoppedClock) async throws -> Void
    ) async throws {
      try await withNetworkLoop { loop in
        try await Task(executorPreference: loop) { try await body(loop, StoppedClock(of: loop)) }
          .value
      }
    }
  #endif

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
