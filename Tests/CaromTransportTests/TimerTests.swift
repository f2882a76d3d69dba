import CaromCore
import Testing

@testable import CaromTransport

@Suite(.timeLimit(.minutes(1))) struct TimerTests {
  @Test func `timers fire in the order of their deadlines, never early`() async throws {
    try await onLoop { loop in
      let fired = Events<(Int, Instant)>()
      let start = loop.now
      let timers = (0..<5).map { index in
        LoopTimer(on: loop) { fired.add((index, loop.now)) }
      }
      for (index, timer) in timers.enumerated() {
        timer.arm(at: start + .microseconds(300 * (5 - index)))
      }
      for expected in [4, 3, 2, 1, 0] {
        let (index, time) = await fired.next()
        #expect(index == expected)
        #expect(time >= start + .microseconds(300 * (5 - index)))
      }
    }
  }

  @Test func `a ticker counts every tick, delivered or missed`() async throws {
    try await onLoop { loop in
      let ticks = Events<Ticker.Tick>()
      let ticker = Ticker(on: loop, hertz: 2000) { ticks.add($0) }
      var counted: Int64 = 0
      while counted < 50 {
        let tick = await ticks.next()
        #expect(tick.index == counted + tick.missed)
        #expect(tick.due == ticker.schedule.due(tick.index))
        #expect(tick.now >= tick.due)
        counted = tick.index + 1
      }
      ticker.stop()
    }
  }
}
