import CaromCore
import Foundation
import Testing

@testable import CaromTransport

@Suite(.timeLimit(.minutes(1))) struct TCPConnectTests {
  @Test func `address families alternate and each endpoint is tried once`() {
    let v4 = (1...3).map { Endpoint(.v4(UInt32($0)), port: 1) }
    let v6 = (1...2).map { Endpoint(.v6(high: 0, low: UInt64($0), scope: 0), port: 1) }
    #expect(
      Connector.interleaved([v6[0], v6[1], v6[0], v4[0], v4[1], v4[2]])
        == [v6[0], v4[0], v6[1], v4[1], v4[2]])
    #expect(Connector.interleaved([]) == [])
  }

  @Test func `after a refused attempt the next one starts at once`() async throws {
    try await onLoop { loop in
      let listener = try TCPListener(on: loop, bind: Endpoint(.loopback6, port: 0)) { _ in }
      let good = listener.localEndpoint
      // No test listens at this address.
      let refused = Endpoint(IPAddress("127.77.0.5")!, port: 9)
      let stream = try await TCPStream.connect(
        to: [refused, good], on: loop, attemptDelay: .seconds(50))
      #expect(stream.peerEndpoint == good && listener.isOpen)
    }
  }

  @Test func `an endpoint that does not answer is overtaken by the next one`() async throws {
    try await onLoop { loop in
      let hole = try await BlackHole(on: loop)
      let listener = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) { _ in }
      let stream = try await TCPStream.connect(
        to: [hole.endpoint, listener.localEndpoint], on: loop, attemptDelay: .milliseconds(5))
      #expect(stream.peerEndpoint == listener.localEndpoint && hole.isFull)
    }
  }

  @Test func `the deadline limits all attempts together`() async throws {
    try await onLoop { loop in
      let hole = try await BlackHole(on: loop)
      await #expect(throws: TransportError.timedOut) {
        _ = try await TCPStream.connect(
          to: [hole.endpoint], on: loop, deadline: .milliseconds(20))
      }
      #expect(hole.isFull)
    }
  }

  @Test func `cancelling the task ends all attempts`() async throws {
    try await onLoop { loop in
      let hole = try await BlackHole(on: loop)
      let endpoint = hole.endpoint
      let task = Task<Void, any Error>(executorPreference: loop) {
        _ = try await TCPStream.connect(to: [endpoint], on: loop)
      }
      try await pass(on: loop)
      task.cancel()
      await #expect(throws: TransportError.cancelled) { try await task.value }
      #expect(hole.isFull)
    }
  }

  @Test func `an actor of the loop connects while the global thread pool is busy`() async throws {
    try await onLoop { loop in
      let listener = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) { _ in }
      let pool = await OccupiedPool()
      try await Caller(loop: loop).connect(to: listener.localEndpoint)
      #expect(pool.release())
    }
  }

  @Test func `connecting without an endpoint throws unreachable`() async throws {
    try await onLoop { loop in
      await #expect(throws: TransportError.unreachable) {
        _ = try await TCPStream.connect(to: [], on: loop)
      }
    }
  }

  @Test func `shutting down the loop ends a connection attempt`() async throws {
    let loop = try NetworkLoop()
    let task = Task(executorPreference: loop) {
      let hole = try await BlackHole(on: loop)
      let endpoint = hole.endpoint
      let waiting = Task<Void, any Error>(executorPreference: loop) {
        _ = try await TCPStream.connect(to: [endpoint], on: loop, deadline: .seconds(3_600))
      }
      try await pass(on: loop)
      loop.core.requestStop()
      await #expect(throws: TransportError.closed) { try await waiting.value }
      #expect(!hole.isFull)
    }
    try await task.value
    await loop.shutdown()
  }

  @Test func `listening on a port in use throws addressInUse with its number`() async throws {
    try await onLoop { loop in
      let listener = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) { _ in }
      let taken = listener.localEndpoint
      #expect(throws: TransportError.addressInUse(port: taken.port)) {
        _ = try TCPListener(on: loop, bind: taken) { _ in }
      }
      #expect(throws: TransportError.addressNotAvailable(.v4(0x0102_0304))) {
        _ = try TCPListener(on: loop, bind: Endpoint(.v4(0x0102_0304), port: 0)) { _ in }
      }
    }
  }

  @Test func `keep-alive and user timeout can be set only while a stream is open`() async throws {
    try await onLoop { loop in
      let pair = try await makePair(on: loop)
      try pair.client.setKeepAlive(idle: .seconds(2))
      try pair.client.setKeepAlive(idle: nil)
      try pair.client.setUserTimeout(.seconds(3))
      pair.client.reset()
      #expect(throws: TransportError.closed) { try pair.client.setUserTimeout(.seconds(1)) }
    }
  }

  #if os(Linux)
    @Test(
      arguments: zip(
        [Duration.microseconds(1), .seconds(3), .seconds(3_000_000)], [1, 3000, Int32.max]))
    func `a user timeout has at least one millisecond, since 0 would switch the timeout off`(
      timeout: Duration, milliseconds: Int32
    ) async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        try pair.client.setUserTimeout(timeout)
        #expect(try option(TCP_USER_TIMEOUT, of: pair.client) == milliseconds)
      }
    }

    @Test func `TCP_NODELAY is set, so that small writes do not wait for acknowledgements`()
      async throws
    {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        #expect(try option(TCP_NODELAY, of: pair.client) == 1)
        #expect(try option(TCP_NODELAY, of: pair.server) == 1)
      }
    }

    /// Returns an option of TCP, and closes the stream.
    private func option(_ name: Int32, of stream: TCPStream) throws -> Int32 {
      let descriptor = try #require(try stream.detach().removeDescriptor())
      defer { close(descriptor) }
      var value: Int32 = -1
      var length = socklen_t(MemoryLayout<Int32>.size)
      unsafe getsockopt(descriptor, Int32(IPPROTO_TCP), name, &value, &length)
      return value
    }

    @Test func `the attempts that the first successful one has overtaken are closed, RFC 8305 §5`()
      async throws
    {
      try await onLoop { loop in
        let holes = [try await BlackHole(on: loop), try await BlackHole(on: loop)]
        let listener = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) { _ in }
        listener.setAccepting(false)
        let before = Fault.descriptors
        let stream = try await TCPStream.connect(
          to: holes.map(\.endpoint) + [listener.localEndpoint], on: loop,
          attemptDelay: .milliseconds(5))
        #expect(stream.peerEndpoint == listener.localEndpoint)
        #expect(Fault.descriptors == before + 1 && holes.allSatisfy(\.isFull))
      }
    }
  #endif
}

/// A listener whose backlog is full, so that the system drops further connection requests.
private struct BlackHole {
  let listener: TCPListener
  let fillers: [TCPStream]
  var endpoint: Endpoint { listener.localEndpoint }
  var isFull: Bool { listener.isOpen && fillers.allSatisfy(\.isOpen) }

  init(on loop: NetworkLoop) async throws {
    var options = TCPListener.Options()
    options.backlog = 0
    let listener = try TCPListener(
      on: loop, bind: Endpoint(.loopback4, port: 0), options: options
    ) { _ in }
    listener.setAccepting(false)
    fillers = [try await TCPStream.connect(to: [listener.localEndpoint], on: loop)]
    self.listener = listener
  }
}

/// An actor of the loop that connects.
private actor Caller: LoopActor {
  nonisolated let loop: NetworkLoop

  init(loop: NetworkLoop) { self.loop = loop }

  func connect(to endpoint: Endpoint) async throws {
    _ = try await TCPStream.connect(to: [endpoint], on: loop)
  }
}

/// Occupies all threads of the global pool at the task's priority until it is released.
private final class OccupiedPool: Sendable {
  /// How long the threads are occupied at most.
  private static let limit = 20.0
  private static let threads = ProcessInfo.processInfo.activeProcessorCount

  private let gate = DispatchSemaphore(value: 0)
  private let hasExpired = Locked(false)

  /// Returns when all threads are occupied.
  init() async {
    let (occupied, source) = AsyncStream.makeStream(of: Void.self)
    for _ in 0..<Self.threads {
      Task.detached(priority: Task.currentPriority) {
        source.yield()
        self.occupy()
      }
    }
    var threads = occupied.makeAsyncIterator()
    for _ in 0..<Self.threads { await threads.next() }
  }

  private func occupy() {
    if gate.wait(timeout: .now() + Self.limit) == .timedOut { hasExpired.withLock { $0 = true } }
  }

  /// Releases the threads. Returns whether all were occupied until now.
  func release() -> Bool {
    for _ in 0..<Self.threads { gate.signal() }
    return hasExpired.withLock { !$0 }
  }
}
