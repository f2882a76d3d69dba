import CaromCore
import CaromGroup
import CaromNearby
import CaromProtocol
import CaromSession
import CaromSessionTesting
import CaromTransport
import Testing

/// Byte streams between two sessions on the virtual network.
@Suite struct SessionStreamsTests {
  /// The streams of a host and of its client, and each as a peer of the other.
  private struct Pair: Sendable {
    let hosting: SessionStreams
    let client: Peer
    let visiting: SessionStreams
    let host: Peer
    let world: SessionWorld

    /// Opens a stream from the client, and returns both ends.
    func open(_ name: String = "s") async throws -> (PeerStream, PeerStream) {
      let stream = try await visiting.open(name, to: host)
      var incoming = hosting.incoming.makeAsyncIterator()
      return (stream, try #require(await incoming.next()))
    }
  }

  private func withPair(
    seed: UInt64 = 1, conditions: LinkConditions = .lan,
    _ body: @escaping @Sendable (Pair) async throws -> Void
  ) async throws {
    try await SessionWorld.run(seed: seed, conditions: conditions) { world in
      let (server, client) = (world.addHost(), world.addHost())
      let maya = PeerInfo(id: PeerID(high: 1, low: 1), name: "Maya", application: "test")
      let leo = PeerInfo(id: PeerID(high: 2, low: 2), name: "Leo", application: "test")
      try await Session.host(as: maya, loop: server.loop) { session, port in
        try await session.withStreams { hosting in
          try await Session.join(
            [Endpoint(server.v4, port: port)], as: leo,
            retrying: RetryPolicy(attempts: 8), loop: client.loop
          ) { joined, host in
            try await joined.withStreams { visiting in
              let client = try #require(await session.firstPeer())
              try await body(
                Pair(
                  hosting: hosting, client: client, visiting: visiting, host: host, world: world))
            }
          }
        }
      }
    }
  }

  /// Reads a stream to its end.
  private func readAll(_ stream: PeerStream) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    for try await part in stream { bytes += part }
    return bytes
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func `bytes cross a lossy network in order, in both directions at once`(
    seed: UInt64
  ) async throws {
    let (there, back) = (randomBytes(400_000, seed: 1), randomBytes(300_000, seed: 2))
    try await withPair(seed: seed, conditions: .mobile) { pair in
      let (near, far) = try await pair.open("both ways")
      #expect(far.name == "both ways" && far.peer == pair.client)
      async let sent: Void = near.writeAll(there)
      async let answered: Void = far.writeAll(back)
      async let received = readAll(far)
      async let returned = readAll(near)
      _ = try await (sent, answered)
      #expect(try await received == there)
      #expect(try await returned == back)
    }
  }

  @Test func `a stream that is not read delays neither other streams nor its connection`()
    async throws
  {
    let bytes = randomBytes(500_000)
    try await withPair { pair in
      let (stalled, unread) = try await pair.open("stalled")
      async let writing: Void = stalled.writeAll(bytes)
      for _ in 0..<4 {
        let (near, far) = try await pair.open()
        async let sent: Void = near.writeAll(bytes)
        #expect(try await readAll(far) == bytes)
        try await sent
      }
      #expect(try await readAll(unread) == bytes)
      try await writing
    }
  }

  @Test func `what was finished arrives although its stream is released`() async throws {
    try await withPair { pair in
      var (near, far): (PeerStream?, PeerStream) = try await pair.open()
      try await near?.write([1, 2, 3])
      await near?.finish()
      near = nil
      #expect(try await readAll(far) == [1, 2, 3])
      try await far.write([4])
    }
  }

  @Test func `a stream that is released before its end is reset`() async throws {
    try await withPair { pair in
      var (near, far): (PeerStream?, PeerStream) = try await pair.open()
      try await near?.write([1])
      #expect(try await far.read() == [1])
      near = nil
      await #expect(throws: StreamFailure.reset) { _ = try await far.read() }
      await #expect(throws: StreamFailure.reset) { try await far.write([1]) }
    }
  }

  @Test func `a reset wakes the reader and the writer that wait`() async throws {
    try await withPair { pair in
      let (near, far) = try await pair.open()
      async let failures = failures(of: near)
      _ = try await far.read(atMost: 1)
      far.reset()
      #expect(await failures == [.reset, .reset])
    }
  }

  @Test func `a cancelled reader and a cancelled writer stop waiting`() async throws {
    try await withPair { pair in
      let (near, far) = try await pair.open()
      try await withThrowingTaskGroup(of: [StreamFailure?].self) { group in
        group.addTask { await failures(of: near) }
        _ = try await far.read(atMost: 1)
        group.cancelAll()
        #expect(try await group.next() == [.cancelled, .cancelled])
      }
    }
  }

  /// Reads a stream to which nothing is written, writes more than its peer accepts, and returns the
  /// failures of both.
  private func failures(of stream: PeerStream) async -> [StreamFailure?] {
    async let reading: StreamFailure? = {
      do throws(StreamFailure) { _ = try await stream.read() } catch { return error }
      return nil
    }()
    async let writing: StreamFailure? = {
      do throws(StreamFailure) { try await stream.write(randomBytes(1_000_000)) } catch {
        return error
      }
      return nil
    }()
    return await [reading, writing]
  }

  @Test func `the loss of the connection ends every stream`() async throws {
    try await withPair { pair in
      let (near, far) = try await pair.open()
      await pair.host.close()
      await #expect(throws: StreamFailure.disconnected) { _ = try await near.read() }
      await #expect(throws: StreamFailure.disconnected) { _ = try await far.read() }
      await #expect(throws: StreamFailure.disconnected) {
        _ = try await pair.visiting.open("late", to: pair.host)
      }
    }
  }

  @Test func `a finished stream takes no more bytes`() async throws {
    try await withPair { pair in
      let (near, far) = try await pair.open()
      await near.finish()
      await #expect(throws: StreamFailure.finished) { try await near.write([1]) }
      #expect(try await far.read() == nil)
      #expect(try await far.read() == nil)
    }
  }
}

extension PeerStream {
  /// Writes all bytes and finishes.
  fileprivate func writeAll(_ bytes: [UInt8]) async throws {
    try await write(bytes)
    await finish()
  }
}
