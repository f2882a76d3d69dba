import CaromCore
import Testing

@testable import CaromTransport

@Suite(.timeLimit(.minutes(1))) struct NetworkLoopTests {
  @Test func `work posted from another thread runs on the loop's thread`() async {
    await withNetworkLoop { loop in
      #expect(!loop.isCurrent)
      #expect(await loop.run { loop.isCurrent })
      #expect(loop.isIsolatingCurrentContext() == false)
    }
  }

  @Test func `a task that prefers the loop stays on it after each suspension`() async throws {
    try await onLoop { loop in
      #expect(loop.isCurrent)
      await Task.yield()
      #expect(loop.isCurrent)
      await withCheckedContinuation { continuation in
        Task { continuation.resume() }
      }
      #expect(loop.isCurrent)
    }
  }

  @Test func `the echo actor of the documentation echoes datagrams`() async throws {
    try await onLoop { loop in
      let echo = Echo(on: loop)
      let address = try await echo.open()
      let answers = Events<Datagram>()
      let socket = try UDPSocket(on: loop, bind: Endpoint(.loopback4, port: 0)) { batch in
        for index in batch.indices { answers.add(batch[index].copy()) }
      }
      socket.send([1, 2, 3], to: Endpoint(.loopback4, port: address.port))
      socket.flush()
      #expect(await answers.next().payload == [1, 2, 3])
      await echo.close()
    }
  }

  @Test func `shutting down twice, and from the loop itself, is safe`() async throws {
    let loop = try NetworkLoop()
    await Task(executorPreference: loop) { await loop.shutdown() }.value
    await loop.shutdown()
    #expect(await loop.run { true })
  }

  @Test func `opening a socket on a loop that has shut down throws closed`() async throws {
    let loop = try NetworkLoop()
    await loop.shutdown()
    await #expect(throws: TransportError.closed) {
      try await loop.run { () throws(TransportError) in
        _ = try UDPSocket(on: loop) { _ in }
      }
    }
  }

  @Test func `a task on the executor finishes after the loop has shut down`()
    async throws
  {
    let loop = try NetworkLoop()
    let gate = Gate()
    let task = Task(executorPreference: loop) {
      await gate.wait()
      await Task.yield()
      return loop.isCurrent
    }
    await loop.shutdown()
    await gate.open()
    #expect(await task.value)
  }

  @Test func `work posted from four threads runs completely, in order for each thread`()
    async throws
  {
    let count = 50_000
    await withNetworkLoop { loop in
      let tally = LoopBound(Tally())
      await withTaskGroup { group in
        for writer in 0..<4 {
          group.addTask {
            for index in 0..<count { loop.post { tally.value.add(writer, index) } }
          }
        }
      }
      #expect(await loop.run { tally.value.next } == [count, count, count, count])
    }
  }

  @Test func `shutting down closes open streams and reports it`() async throws {
    let loop = try NetworkLoop()
    let seen = LoopBound(Events<Seen>())
    let pair = try await Task(executorPreference: loop) {
      let pair = LoopBound(try await makePair(on: loop))
      pair.value.server.setHandler { seen.value.add(Seen($0)) }
      return pair
    }.value
    await loop.shutdown()
    let event = await loop.run { seen.value.first }
    #expect(event == .closed(.closed))
    await loop.run { #expect(!pair.value.server.isOpen && !pair.value.listener.isOpen) }
  }

  @Test func `shutdown hooks run once, while the sockets are open, and send last datagrams`()
    async throws
  {
    try await onLoop { here in
      let (receiver, received) = try makeReceiver(on: here, bind: .loopback4)
      let target = receiver.localEndpoint
      let there = try NetworkLoop()
      let senders = try await there.run { () throws(TransportError) in
        var senders: [LastSender] = []
        for value in UInt8(0)..<4 {
          senders.append(try LastSender(of: value, to: target, on: there))
        }
        return LoopBound(senders)
      }
      await there.shutdown()
      try await pass(on: here)
      var last: [UInt8] = []
      while received.count > 0 { last += await received.next().payload }
      #expect(last.sorted() == [0, 1, 2, 3] && senders.value.count == 4)
    }
  }
}

/// Sends a datagram when its loop shuts down.
private final class LastSender {
  private let hook: ShutdownHook

  init(of value: UInt8, to target: Endpoint, on loop: NetworkLoop) throws(TransportError) {
    let socket = try makeSender(on: loop, bind: .loopback4)
    hook = ShutdownHook(on: loop) {
      #expect(socket.isOpen)
      socket.send([value], to: target)
      socket.flush()
    }
  }
}

/// Counts the indices of each writer that arrive in order.
private final class Tally {
  var next = [0, 0, 0, 0]

  func add(_ writer: Int, _ index: Int) {
    if next[writer] == index { next[writer] += 1 }
  }
}

/// Suspends tasks until it is opened.
private actor Gate {
  private var waiters: [CheckedContinuation<Void, Never>] = []
  private var isOpen = false

  func wait() async {
    await withCheckedContinuation { continuation in
      if isOpen { continuation.resume() } else { waiters.append(continuation) }
    }
  }

  func open() {
    isOpen = true
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
}
