import CaromCore
import Testing

@testable import CaromTransport

/// Tests of the order in which a loop runs work, timers and sockets.
@Suite(.timeLimit(.minutes(1))) struct LoopTurnTests {
  @Test func `an end-of-turn callback runs once in each turn in which it was scheduled`()
    async throws
  {
    try await onLoop { loop in
      let turns = Turns(on: loop)
      await turns.open()
      await turns.post(["a", "b"])
      try await pass(on: loop)
      #expect(await turns.log == ["a", "b", "end"])
      await turns.post(["c", "again", "d"])
      try await pass(on: loop)
      #expect(await turns.log.dropFirst(3) == ["c", "again", "d", "end", "end"])
      try await pass(on: loop)
      #expect(await turns.log.count == 8)
      await turns.post(["e", "close"])
      try await pass(on: loop)
      #expect(await turns.log.dropFirst(8) == ["e", "close"])
    }
  }

  @Test func `work that exceeds the limit of a turn goes on without another event`() async throws {
    try await onLoop { loop in
      let ended = Events<Bool>()
      let alarm = LoopTimer(on: loop) { ended.add(false) }
      alarm.arm(after: .seconds(10))
      let chain = Chain(on: loop) { ended.add(true) }
      chain.enqueue(10 * LoopCore.maximumWorkPerTurn)
      #expect(await ended.next(), "only the alarm woke the loop")
      alarm.cancel()
    }
  }

  @Test func `work that keeps enqueuing more work does not starve the sockets`() async throws {
    try await onLoop { loop in
      let ended = Events<Bool>()
      let socket = try UDPSocket(on: loop, bind: Endpoint(.loopback4, port: 0)) { _ in
        ended.add(true)
      }
      let chain = Chain(on: loop) { ended.add(false) }
      chain.enqueue(10 * LoopCore.maximumWorkPerTurn)
      socket.send([1], to: socket.localEndpoint)
      socket.flush()
      #expect(await ended.next(), "all work ran before the datagram was received")
    }
  }
}

/// Work that enqueues itself a number of times, and then calls a closure.
private struct Chain: Sendable {
  private let loop: NetworkLoop
  private let end: LoopBound<() -> Void>

  init(on loop: NetworkLoop, _ end: @escaping () -> Void) {
    self.loop = loop
    self.end = LoopBound(end)
  }

  func enqueue(_ count: Int) {
    loop.post {
      if count > 1 { enqueue(count - 1) } else { end.value() }
    }
  }
}

/// Logs work that schedules an end-of-turn callback.
private actor Turns: LoopActor {
  nonisolated let loop: NetworkLoop
  private(set) var log: [String] = []
  private var callback: EndOfTurnCallback?
  private var repeats = false

  init(on loop: NetworkLoop) { self.loop = loop }

  func open() { callback = EndOfTurnCallback(on: loop, owner: self) { $0.end() } }

  func post(_ names: [String]) {
    for name in names {
      loop.post { self.assumeIsolated { $0.run(name) } }
    }
  }

  private func run(_ name: String) {
    log.append(name)
    repeats = repeats || name == "again"
    callback?.schedule()
    if name == "close" { callback = nil }
  }

  private func end() {
    log.append("end")
    if repeats { callback?.schedule() }
    repeats = false
  }
}
