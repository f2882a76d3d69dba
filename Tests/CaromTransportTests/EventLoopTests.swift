import CaromCore
import Testing

@testable import CaromTransport

@Suite(.timeLimit(.minutes(1))) struct EventLoopTests {
  @Test func `work posted from elsewhere runs on the loop's thread`() async {
    await withEventLoop { loop in
      #expect(!loop.isCurrent)
      #expect(await loop.run { loop.isCurrent })
      #expect(loop.isIsolatingCurrentContext() == false)
    }
  }

  @Test func `a task that prefers the loop stays on it after each wait`() async throws {
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

  @Test func `the echo actor of the documentation echoes`() async throws {
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

  @Test func `shutdown twice and from the loop itself ends once`() async throws {
    let loop = try EventLoop()
    await Task(executorPreference: loop) { await loop.shutdown() }.value
    await loop.shutdown()
    #expect(await loop.run { true })
  }

  @Test func `sockets cannot be opened on a loop that is shut down`() async throws {
    let loop = try EventLoop()
    await loop.shutdown()
    await #expect(throws: TransportError.closed) {
      try await loop.run { () throws(TransportError) in
        _ = try UDPSocket(on: loop) { _ in }
      }
    }
  }
}

/// The example of `EventLoop`'s documentation.
actor Echo: LoopActor {
  nonisolated let loop: EventLoop
  private var socket: UDPSocket?

  init(on loop: EventLoop) { self.loop = loop }

  func open() throws(TransportError) -> Endpoint {
    let socket = try UDPSocket(on: loop, owner: self) { echo, batch in echo.receive(batch) }
    self.socket = socket
    return socket.localEndpoint
  }

  private func receive(_ batch: borrowing UDPBatch) {
    assertIsolated()
    for index in batch.indices { socket?.send(batch[index].payload, to: batch[index].source) }
    socket?.flush()
  }

  func close() { socket = nil }
}
