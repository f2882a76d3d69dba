import CaromCore
import Foundation
import Testing

@testable import CaromTransport

/// The promises of `NetworkLoop`, and of timers, hooks and callbacks that are released.
@Suite(.timeLimit(.minutes(1))) struct LoopPromiseTests {
  private struct Failure: Error {}

  @Test func `run returns the result of its closure, or throws its error, on the loop's thread`()
    async
  {
    await withNetworkLoop { loop in
      #expect(!loop.isCurrent)
      let isCurrent = await loop.run { loop.isCurrent }
      #expect(isCurrent)
      await #expect(throws: Failure.self) {
        _ = try await loop.run { () throws -> Int in throw Failure() }
      }
    }
  }

  @Test func `withNetworkLoop shuts its loop down, and throws the error of its closure`() async {
    let kept = Locked<NetworkLoop?>(nil)
    await #expect(throws: Failure.self) {
      try await withNetworkLoop { loop in
        kept.withLock { $0 = loop }
        throw Failure()
      }
    }
    let loop = kept.withLock { $0 }
    await #expect(throws: TransportError.closed) { try await loop?.sleep(until: .distantFuture) }
    let returned = await withNetworkLoop { $0 }
    await #expect(throws: TransportError.closed) { try await returned.sleep(until: .zero) }
  }

  @Test
  func `a sleep throws closed if its loop shuts down, and cancelled if its task was cancelled`()
    async throws
  {
    let loop = try NetworkLoop()
    let sleeping = Task.immediate { try await loop.sleep(until: .distantFuture) }
    let cancelled = Task {
      while !Task.isCancelled { await Task.yield() }
      try await loop.sleep(until: .zero)
    }
    cancelled.cancel()
    await #expect(throws: TransportError.cancelled) { try await cancelled.value }
    let lookup = Task {
      while !Task.isCancelled { await Task.yield() }
      _ = try await loop.lookup(host: "localhost")
    }
    lookup.cancel()
    await #expect(throws: TransportError.cancelled) { try await lookup.value }
    await loop.shutdown()
    await #expect(throws: TransportError.closed) { try await sleeping.value }
    await #expect(throws: TransportError.closed) { _ = try await loop.lookup(host: "localhost") }
  }

  @Test func `a lookup of an address returns it, and each address of a name once`() async throws {
    try await withNetworkLoop { loop in
      #expect(try await loop.lookup(host: "fe80::1%1") == [IPAddress("fe80::1%1")!])
      #expect(try await loop.lookup(host: "10.1.2.3") == [.v4(0x0A01_0203)])
      let addresses = try await loop.lookup(host: "localhost")
      #expect(addresses.count == Set(addresses).count && addresses.contains(.loopback4))
    }
  }

  @Test func `a spinning loop runs work, sockets and timers, and ends`() async throws {
    let loop = try NetworkLoop(name: "spin", spinning: true)
    try await Task(executorPreference: loop) {
      let (socket, received) = try makeReceiver(on: loop, bind: .loopback4)
      socket.send([1], to: socket.localEndpoint)
      socket.flush()
      #expect(await received.next().payload == [1])
      let begin = loop.now
      try await loop.sleep(until: begin + .milliseconds(1))
      #expect(loop.now >= begin + .milliseconds(1))
    }.value
    await loop.shutdown()
  }

  #if os(Linux)
    @Test func `the loop's thread has the loop's name, as far as the system allows`() async throws {
      for (name, shown) in [("carom-pawn", "carom-pawn"), ("0123456789abcdefg", "0123456789abcde")]
      {
        try await withNetworkLoop(name: name) { loop in
          let text = try await loop.run {
            try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
          }
          #expect(text == shown + "\n")
        }
      }
    }

    @Test func `the host's name is the system's`() throws {
      let name = try String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8)
      #expect(HostName.current + "\n" == name)
    }
  #endif

  @Test func `the clock is monotonic, and a suspension lasts no negative time`() {
    let first = NetworkLoop.now
    #expect(first > .zero && NetworkLoop.now >= first)
    #expect(NetworkLoop.timeSuspended >= .zero)
  }

  @Test func `timers, tickers, hooks and callbacks that are released never call back`()
    async throws
  {
    let calls = Locked<[String]>([])
    let loop = try NetworkLoop()
    try await Task(executorPreference: loop) {
      await Owner(on: loop).scheduleAndRelease { calls.withLock { $0.append("turn") } }
      var timer: LoopTimer? = LoopTimer(on: loop) { calls.withLock { $0.append("timer") } }
      timer?.arm(at: loop.now)
      var ticker: Ticker? = Ticker(on: loop, hertz: 1_000) { _ in
        calls.withLock { $0.append("ticker") }
      }
      var hook: ShutdownHook? = ShutdownHook(on: loop) { calls.withLock { $0.append("hook") } }
      let kept = ShutdownHook(on: loop) { calls.withLock { $0.append("kept") } }
      #expect(timer?.deadline != nil && ticker?.schedule.hertz == 1_000 && hook != nil)
      timer = nil
      ticker = nil
      hook = nil
      try await pass(on: loop)
      loop.core.requestStop()
      withExtendedLifetime(kept) {}
      while loop.core.isOpen { await Task.yield() }
      withExtendedLifetime(kept) {}
    }.value
    await loop.shutdown()
    #expect(calls.withLock { $0 } == ["kept"])
  }

  private actor Owner: LoopActor {
    nonisolated let loop: NetworkLoop

    init(on loop: NetworkLoop) { self.loop = loop }

    func scheduleAndRelease(_ body: @escaping @Sendable () -> Void) {
      let callback = EndOfTurnCallback(on: loop, owner: self) { _ in body() }
      callback.schedule()
    }

    func makeTimer(on other: NetworkLoop) { _ = LoopTimer(on: other, owner: self) { _ in } }
  }

  @Test func `using a timer outside its loop's thread traps`() async {
    await #expect(processExitsWith: .failure) {
      await withNetworkLoop { loop in _ = LoopTimer(on: loop) {} }
    }
  }

  @Test func `an owner whose executor is another loop traps`() async {
    await #expect(processExitsWith: .failure) {
      await withNetworkLoop { loop in
        await withNetworkLoop { other in
          let owner = Owner(on: loop)
          await loop.run { owner.assumeIsolated { $0.makeTimer(on: other) } }
        }
      }
    }
  }
}
