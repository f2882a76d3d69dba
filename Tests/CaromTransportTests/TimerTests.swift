import CaromCore
import Testing

@testable import CaromTransport

@Suite(.timeLimit(.minutes(1))) struct TimerTests {
  @Test func `timers fire in the order of their deadlines, never early`() async throws {
    try await onLoop { loop in
      let fired = Events<(Int, Instant)>()
      let start = loop.now
      var generator = SeededGenerator(seed: 7)
      let delays = (0..<40).map { _ in Int.random(in: 0..<8000, using: &generator) }
      let timers = delays.indices.map { index in
        LoopTimer(on: loop) { fired.add((index, loop.now)) }
      }
      for (timer, delay) in zip(timers, delays) { timer.arm(at: start + .microseconds(delay)) }
      var last = -1
      for _ in delays {
        let (index, time) = await fired.next()
        #expect(time >= start + .microseconds(delays[index]))
        #expect(delays[index] >= last)
        last = delays[index]
      }
      #expect(timers.allSatisfy { $0.deadline == nil })
    }
  }

  @Test func `timers with equal deadlines fire in the order in which they were armed`()
    async throws
  {
    try await onLoop { loop in
      let fired = Events<Int>()
      let deadline = loop.now + .milliseconds(1)
      let timers = (0..<20).map { index in LoopTimer(on: loop) { fired.add(index) } }
      let order = [7, 3] + (0..<20).filter { $0 != 3 && $0 != 7 }
      for index in [3] + order { timers[index].arm(at: deadline) }
      for index in order { #expect(await fired.next() == index) }
    }
  }

  @Test func `a timer fires at its deadline though timers with later ones were armed before it`()
    async throws
  {
    try await onLoop { loop in
      let fired = Events<Int>()
      let start = loop.now
      let timers = (0..<3).map { index in LoopTimer(on: loop) { fired.add(index) } }
      timers[2].arm(at: start + .seconds(10))
      timers[1].arm(at: start + .seconds(9))
      timers[0].arm(at: start + .milliseconds(1))
      #expect(await fired.next() == 0)
      #expect(loop.now < start + .seconds(9) && fired.count == 0)
      #expect(timers.map { $0.deadline != nil } == [false, true, true])
    }
  }

  @Test func `a cancelled timer does not fire, and a rearmed one fires once`() async throws {
    try await onLoop { loop in
      let fired = Events<String>()
      let silent = LoopTimer(on: loop) { fired.add("silent") }
      let moved = LoopTimer(on: loop) { fired.add("moved") }
      let last = LoopTimer(on: loop) { fired.add("last") }
      silent.arm(after: .milliseconds(1))
      moved.arm(after: .milliseconds(1))
      last.arm(after: .milliseconds(3))
      moved.arm(after: .milliseconds(2))
      silent.cancel()
      #expect(silent.deadline == nil && moved.deadline != nil)
      #expect(await fired.next() == "moved")
      #expect(await fired.next() == "last")
      #expect(fired.count == 0 && moved.deadline == nil && last.deadline == nil)
    }
  }

  @Test func `timers can be armed and cancelled while timers fire`() async throws {
    try await onLoop { loop in
      let fired = Events<Int>()
      let holder = Holder<LoopTimer>()
      let other = LoopTimer(on: loop) { fired.add(-1) }
      var count = 0
      let timer = LoopTimer(on: loop) {
        count += 1
        fired.add(count)
        other.cancel()
        if count < 3 { holder.value?.arm(at: .zero) }
      }
      holder.value = timer
      timer.arm(at: .zero)
      other.arm(at: Instant(nanoseconds: 1))
      for expected in 1...3 { #expect(await fired.next() == expected) }
      try await pass(on: loop)
      #expect(fired.count == 0 && other.deadline == nil)
      holder.value = nil
    }
  }

  @Test func `a sleeping task resumes at its deadline or when it is cancelled`() async throws {
    try await withNetworkLoop { loop in
      let time = loop.now + .milliseconds(2)
      try await loop.sleep(until: time)
      #expect(loop.now >= time)
      let task = Task { try await loop.sleep(until: .distantFuture) }
      task.cancel()
      await #expect(throws: TransportError.cancelled) { try await task.value }
    }
  }

  @Test func `a ticker counts every tick as delivered or missed`() async throws {
    try await onLoop { loop in
      let ticks = Events<Ticker.Tick>()
      let ticker = Ticker(on: loop, hertz: 2000) { ticks.add($0) }
      var (counted, missed): (Int64, Int64) = (0, 0)
      while counted < 50 {
        let tick = await ticks.next()
        #expect(tick.index == counted + tick.missed)
        #expect(tick.due == ticker.schedule.due(tick.index))
        #expect(tick.lateness >= .zero)
        counted = tick.index + 1
        missed += tick.missed
      }
      ticker.stop()
      let load = await loop.run { loop.load }
      // More ticks may have come before the ticker stopped.
      #expect(load.ticks >= UInt64(counted) && load.lateTicks >= UInt64(missed))
      #expect(load.ticks - load.lateTicks >= UInt64(counted - missed))
      #expect(load.processorTime > .zero)
      try await pass(on: loop)
      while ticks.count > 0 { #expect(await ticks.next().index < counted + 50) }
    }
  }

  @Test func `ticks that were due before the ticker started are counted as missed`() async throws {
    try await onLoop { loop in
      let ticks = Events<Ticker.Tick>()
      let ticker = Ticker(on: loop, hertz: 10, start: loop.now.advanced(by: .milliseconds(-1050))) {
        ticks.add($0)
      }
      let tick = await ticks.next()
      #expect(tick.missed == tick.index && tick.index >= 10)
      ticker.stop()
    }
  }
}

struct TickScheduleTests {
  @Test func `an hour of ticks ends exactly, to the nanosecond`() {
    for hertz in [1, 30, 60, 64, 120, 144, 1000, 7] {
      let schedule = TickSchedule(start: Instant(nanoseconds: 5), hertz: hertz)
      #expect(schedule.due(0) == schedule.start)
      #expect(schedule.due(Int64(hertz) * 3600) == schedule.start + .seconds(3600))
    }
  }

  @Test func `the latest tick is the last one that is due`() {
    for hertz in [1, 3, 60, 144, 999_999] {
      let schedule = TickSchedule(start: Instant(nanoseconds: 123_456_789), hertz: hertz)
      #expect(schedule.latest(at: Instant.zero) == nil)
      for index in [0, 1, 2, 59, 60, 61, 1_000_003] as [Int64] {
        let due = schedule.due(index)
        #expect(schedule.latest(at: due) == index)
        let before = Instant(nanoseconds: due.nanoseconds - 1)
        #expect(schedule.latest(at: before) == (index == 0 ? nil : index - 1))
      }
    }
  }
}
