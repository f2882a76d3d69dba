#if os(Linux)
  import CSystemCalls
  import CaromCore
  import Glibc
  import TestClock
  import Testing

  @testable import CaromTransport

  /// Timers, tickers and connection attempts to the nanosecond, with a stopped clock.
  @Suite(.timeLimit(.minutes(1))) struct ClockTests {
    @Test func `a timer fires at its deadline, not a nanosecond before, and once`() async throws {
      try await onLoop { loop in
        let clock = StoppedClock(of: loop)
        let fired = Events<Instant>()
        let timer = LoopTimer(on: loop) { fired.add(loop.now) }
        let begin = loop.now
        timer.arm(after: .milliseconds(10))
        #expect(timer.deadline == begin + .milliseconds(10))
        try await clock.advance(by: .milliseconds(10) - .nanoseconds(1))
        #expect(fired.count == 0)
        try await clock.advance(by: .nanoseconds(1))
        #expect(fired.count == 1 && fired.first == begin + .milliseconds(10))
        #expect(timer.deadline == nil)
        try await clock.advance(by: .seconds(1))
        #expect(fired.count == 1)
        timer.arm(at: begin)
        try await clock.advance(by: .zero)
        #expect(fired.count == 2, "a deadline that has passed is due at once")
      }
    }

    @Test func `rearming replaces the deadline, earlier or later`() async throws {
      try await onLoop { loop in
        let clock = StoppedClock(of: loop)
        let fired = Events<String>()
        let timers = ["a", "b", "c"].map { name in LoopTimer(on: loop) { fired.add(name) } }
        for timer in timers { timer.arm(after: .seconds(5)) }
        timers[0].arm(after: .seconds(9))
        timers[2].arm(after: .seconds(1))
        try await clock.advance(by: .seconds(1))
        #expect(fired.count == 1 && fired.first == "c")
        timers[1].cancel()
        timers[1].cancel()
        try await clock.advance(by: .seconds(7))
        #expect(fired.count == 1)
        try await clock.advance(by: .seconds(1))
        #expect(fired.count == 2)
        _ = await fired.next()
        #expect(await fired.next() == "a")
      }
    }

    @Test func `a timer that another one's callback puts off fires at its new deadline only`()
      async throws
    {
      try await onLoop { loop in
        let clock = StoppedClock(of: loop)
        let fired = Events<Instant>()
        let begin = loop.now
        let putOff = LoopTimer(on: loop) { fired.add(loop.now) }
        let first = LoopTimer(on: loop) { putOff.arm(after: .milliseconds(3)) }
        first.arm(after: .milliseconds(1))
        putOff.arm(after: .milliseconds(2))
        try await clock.advance(by: .milliseconds(2))
        #expect(fired.count == 0 && putOff.deadline == begin + .milliseconds(5))
        try await clock.advance(by: .milliseconds(3))
        #expect(fired.count == 1 && fired.first == begin + .milliseconds(5))
        #expect(first.deadline == nil)
      }
    }

    @Test func `timers with one deadline all fire, and those after it do not`() async throws {
      try await onLoop { loop in
        let clock = StoppedClock(of: loop)
        var fired: Set<Int> = []
        let timers = (0..<50).map { number in LoopTimer(on: loop) { fired.insert(number) } }
        for (number, timer) in timers.enumerated() {
          timer.arm(after: .milliseconds(number % 2 == 0 ? 5 : 6))
        }
        try await clock.advance(by: .milliseconds(5))
        #expect(fired == Set(stride(from: 0, to: 50, by: 2)))
        try await clock.advance(by: .milliseconds(1))
        #expect(fired.count == 50)
      }
    }

    @Test func `a ticker ticks at each due time, and reports the ticks that it missed`()
      async throws
    {
      try await onLoop { loop in
        let clock = StoppedClock(of: loop)
        let begin = loop.now
        let ticks = Events<Ticker.Tick>()
        let ticker = Ticker(on: loop, hertz: 100) { ticks.add($0) }
        #expect(ticker.schedule == TickSchedule(start: begin, hertz: 100))
        // The time to advance, and the tick that is then delivered.
        let table: [(milliseconds: Int64, index: Int64, missed: Int64)] = [
          (0, 0, 0), (10, 1, 0), (10, 2, 0), (35, 5, 2), (5, 6, 0), (1_000, 106, 99), (10, 107, 0),
        ]
        for row in table {
          try await clock.advance(by: .milliseconds(row.milliseconds))
          #expect(ticks.count == 1)
          let tick = await ticks.next()
          #expect(tick.index == row.index && tick.missed == row.missed)
          #expect(tick.due == begin + .milliseconds(10 * row.index))
          #expect(tick.now == loop.now && tick.lateness == loop.now - tick.due)
          try await clock.advance(by: .zero)
          #expect(ticks.count == 0)
        }
        try await clock.advance(by: .milliseconds(10) - .nanoseconds(1))
        #expect(ticks.count == 0)
        ticker.stop()
        try await clock.advance(by: .seconds(1))
        #expect(ticks.count == 0)
      }
    }

    @Test func `a ticker with a start begins then`() async throws {
      try await onLoop { loop in
        let clock = StoppedClock(of: loop)
        let begin = loop.now
        let ticks = Events<Ticker.Tick>()
        let ticker = Ticker(on: loop, hertz: 10, start: begin + .milliseconds(50)) { ticks.add($0) }
        try await clock.advance(by: .milliseconds(50) - .nanoseconds(1))
        #expect(ticks.count == 0)
        try await clock.advance(by: .nanoseconds(1))
        #expect(ticks.count == 1 && ticks.first?.index == 0 && ticks.first?.missed == 0)
        #expect(ticker.schedule.start == begin + .milliseconds(50))
      }
    }

    @Test func `a sleep ends at its deadline, not a nanosecond before`() async throws {
      try await onLoop { loop in
        let clock = StoppedClock(of: loop)
        let deadline = loop.now + .seconds(3)
        let ended = Events<Instant>()
        let sleeping = Task(executorPreference: loop) { try await loop.sleep(until: deadline) }
        let timer = LoopTimer(on: loop) { ended.add(loop.now) }
        timer.arm(at: deadline)
        try await clock.advance(by: .seconds(3) - .nanoseconds(1))
        #expect(ended.count == 0)
        try await clock.advance(by: .nanoseconds(1))
        try await sleeping.value
        #expect(loop.now == deadline && ended.count == 1)
      }
    }

    /// RFC 8305 §5: the recommended delay between attempts is 250 ms.
    @Test
    func `the next attempt to connect begins after 250 milliseconds, the last ends after 10 s`()
      async throws
    {
      try await onLoop { loop in
        let holes = [try await Hole(on: loop), try await Hole(on: loop)]
        let endpoints = holes.map(\.endpoint)
        let clock = StoppedClock(of: loop)
        let before = Fault.descriptors
        let connecting = Task(executorPreference: loop) { () async -> TransportError? in
          do throws(TransportError) {
            _ = try await TCPStream.connect(to: endpoints, on: loop)
            return nil
          } catch { return error }
        }
        try await clock.advance(by: .zero)
        #expect(Fault.descriptors == before + 1)
        try await clock.advance(by: .milliseconds(250) - .nanoseconds(1))
        #expect(Fault.descriptors == before + 1)
        try await clock.advance(by: .nanoseconds(1))
        #expect(Fault.descriptors == before + 2)
        try await clock.advance(by: .milliseconds(9_750) - .nanoseconds(1))
        #expect(Fault.descriptors == before + 2)
        try await clock.advance(by: .nanoseconds(1))
        #expect(Fault.descriptors == before)
        let error = await connecting.value
        #expect(error == .timedOut)
        #expect(holes[0].isFull && holes[1].isFull)
      }
    }

    @Test func `the error of the first attempt is reported if all attempts fail`() async throws {
      try await onLoop { loop in
        let listener = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) { _ in }
        let port = listener.localEndpoint.port
        // No other test listens at this address, and the second one cannot be reached.
        let refused = Endpoint(.v4(0x7F4D_0005), port: port)
        let unreachable = Endpoint(.v4(0xFFFF_FFFF), port: port)
        await #expect(throws: TransportError.connectionRefused) {
          _ = try await TCPStream.connect(to: [refused, unreachable], on: loop)
        }
        await #expect(throws: TransportError.self) {
          _ = try await TCPStream.connect(to: [unreachable], on: loop)
        }
        #expect(listener.isOpen)
      }
    }

    /// A listener whose backlog is full, so that the system drops further connection requests.
    private struct Hole {
      let listener: TCPListener
      let filler: TCPStream
      var endpoint: Endpoint { listener.localEndpoint }
      var isFull: Bool { listener.isOpen && filler.isOpen }

      init(on loop: NetworkLoop) async throws {
        var options = TCPListener.Options()
        options.backlog = 0
        listener = try TCPListener(
          on: loop, bind: Endpoint(.loopback4, port: 0), options: options
        ) { _ in }
        listener.setAccepting(false)
        filler = try await TCPStream.connect(to: [listener.localEndpoint], on: loop)
      }
    }
  }
#endif
