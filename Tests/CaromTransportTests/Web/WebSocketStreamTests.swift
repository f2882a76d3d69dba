#if os(Linux)
  import CSystemCalls
  import CaromCore
  import TestClock
  import Testing

  @testable import CaromTransport

  /// Streams whose bytes are carried by a WebSocket, on loopback.
  @Suite(.timeLimit(.minutes(1))) struct WebSocketStreamTests {
    private static let ping: [UInt8] = [0x89, 0]
    private static let end: [UInt8] = [0x88, 2, 0x03, 0xE8]

    /// A masked message whose mask is zero.
    private func makeMessage(_ payload: [UInt8]) -> [UInt8] {
      [0x82, 0x80 | UInt8(payload.count), 0, 0, 0, 0] + payload
    }

    @Test func `a silent peer gets a ping after 10 s and is lost after 20 s`() async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let clock = StoppedClock(of: loop)
        try pair.server.becomeWebSocket()
        let (client, server) = (pair.client.watch(), pair.server.watch())
        try await clock.advance(by: .seconds(6))
        try pair.client.write(makeMessage([7]))
        #expect(await server.next() == .bytes([7]))
        try await clock.advance(by: .seconds(10) - .nanoseconds(1))
        try await pass(on: loop)
        #expect(client.count == 0)
        try await clock.advance(by: .nanoseconds(1))
        #expect(await client.next() == .bytes(Self.ping))
        try await clock.advance(by: .seconds(10) - .nanoseconds(1))
        #expect(server.count == 0 && pair.server.isOpen)
        try await clock.advance(by: .nanoseconds(1))
        #expect(await server.next() == .closed(.timedOut))
        #expect(await client.next() == .closed(.connectionReset))
      }
    }

    @Test func `a pong keeps a peer, and is not answered`() async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let clock = StoppedClock(of: loop)
        try pair.server.becomeWebSocket()
        let (client, server) = (pair.client.watch(), pair.server.watch())
        for _ in 0..<5 {
          try await clock.advance(by: .seconds(10))
          #expect(await client.next() == .bytes(Self.ping))
          try pair.client.write([0x8A, 0x80, 0, 0, 0, 0])
          try await pass(on: loop)
        }
        #expect(server.count == 0 && client.count == 0 && pair.server.isOpen)
      }
    }

    /// A session fills the queue up to its limit, and would lose the stream otherwise.
    @Test func `the header of a message needs no room in the queue`() async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        try pair.server.becomeWebSocket()
        let server = pair.server.watch()
        while pair.server.queuedBytes == 0 {
          try pair.server.write([UInt8](repeating: 1, count: 100_000))
        }
        pair.server.queueLimit = pair.server.queuedBytes + 1000
        #expect(throws: TransportError.queueFull) {
          try pair.server.write([UInt8](repeating: 2, count: 1001))
        }
        try pair.server.write([UInt8](repeating: 2, count: 1000))
        #expect(pair.server.queuedBytes > pair.server.queueLimit)
        pair.server.close()
        let client = pair.client.watch()
        var last: [UInt8] = []
        while case .bytes(let bytes) = await client.next() { last = (last + bytes).suffix(1004) }
        // The Close frame needs no room, either.
        #expect(last == [UInt8](repeating: 2, count: 1000) + Self.end)
        pair.client.close()
        #expect(await server.next() == .closed(nil))
      }
    }

    @Test func `after its close, a stream reports only that it has closed`() async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        try pair.server.becomeWebSocket()
        let client = pair.client.watch()
        let events = Events<Seen>()
        pair.server.setHandler { event in
          events.add(Seen(event))
          if case .bytes = event { pair.server.close() }
        }
        // The peer's own Close frame arrives with the bytes after which the owner closes.
        try pair.client.write(makeMessage([1]) + [0x88, 0x80, 0, 0, 0, 0])
        #expect(await client.next() == .bytes([0x88, 0]))
        #expect(await client.next() == .end)
        pair.client.close()
        #expect(await events.next() == .bytes([1]))
        #expect(await events.next() == .closed(nil))
      }
    }

    @Test func `a moved stream continues in the middle of a frame`() async throws {
      try await withNetworkLoop(name: "other") { second in
        let other = StreamOwner(on: second)
        try await onLoop { loop in
          let pair = try await makePair(on: loop)
          try pair.server.becomeWebSocket()
          let (client, server) = (pair.client.watch(), pair.server.watch())
          let message = makeMessage([1, 2, 3, 4])
          try pair.client.write(Array(message.prefix(8)))
          #expect(await server.next() == .bytes([1, 2]))
          let detached = try pair.server.detach()
          #expect(!pair.server.isWebSocket && !pair.server.isOpen)
          try await other.attach(detached)
          try pair.client.write(Array(message.dropFirst(8)))
          #expect(await other.next() == .bytes([3, 4]))
          try await other.write([5])
          #expect(await client.next() == .bytes([0x82, 1, 5]))
          try pair.client.write([0x88, 0x80, 0, 0, 0, 0])
          #expect(await client.next() == .bytes([0x88, 0]))
          #expect(await other.next() == .end)
          #expect(server.count == 0)
        }
      }
    }

    @Test func `a stream that is moved when its last bytes arrive ends on its new loop`()
      async throws
    {
      try await withNetworkLoop(name: "other") { second in
        let other = StreamOwner(on: second)
        try await onLoop { loop in
          let pair = try await makePair(on: loop)
          try pair.server.becomeWebSocket()
          let moves = Events<DetachedStream>()
          pair.server.setHandler { _ in
            if let detached = try? pair.server.detach() { moves.add(detached) }
          }
          let client = pair.client.watch()
          try pair.client.write(makeMessage([1]))
          try await other.attach(await moves.next())
          try pair.client.write([0x88, 0x80, 0, 0, 0, 0])
          #expect(await other.next() == .end)
          #expect(await client.next() == .bytes([0x88, 0]))
          #expect(moves.count == 0)
        }
      }
    }
  }
#endif
