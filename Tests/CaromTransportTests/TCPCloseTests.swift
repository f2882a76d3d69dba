#if os(Linux)
  import CSystemCalls
  import CaromCore
  import TestClock
  import Testing

  @testable import CaromTransport

  /// Tests of how long a closed stream stays, to the nanosecond.
  @Suite(.timeLimit(.minutes(1))) struct TCPCloseTests {
    @Test func `a closed stream tries for five seconds to send its bytes, then resets`()
      async throws
    {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let client = pair.client.watch()
        let clock = StoppedClock(of: loop)
        pair.client.queueLimit = 64 << 20
        while pair.client.queuedBytes == 0 {
          try pair.client.write([UInt8](repeating: 1, count: 1 << 20))
        }
        pair.client.close()
        try await clock.advance(by: .seconds(5) - .nanoseconds(1))
        #expect(client.count == 0 && pair.client.isOpen)
        try await clock.advance(by: .nanoseconds(1))
        #expect(client.count == 1 && client.first == .closed(.timedOut))
        let server = pair.server.watch()
        var last = await server.next()
        while case .bytes = last { last = await server.next() }
        #expect(last == .closed(.connectionReset), "an orderly end would hide the loss")
      }
    }

    @Test func `a closed stream that has sent everything waits one second for the peer's FIN`()
      async throws
    {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let (client, server) = (pair.client.watch(), pair.server.watch())
        let clock = StoppedClock(of: loop)
        try pair.client.write([1])
        pair.client.close()
        #expect(await server.next() == .bytes([1]))
        #expect(await server.next() == .end)
        for _ in 0..<2 {
          try pair.server.write([2])
          try await pass(on: loop)
        }
        try await clock.advance(by: .seconds(1) - .nanoseconds(1))
        #expect(client.count == 0 && pair.client.isOpen, "what the peer sends is discarded")
        #expect(server.count == 0)
        try await clock.advance(by: .nanoseconds(1))
        #expect(client.count == 1 && client.first == .closed(nil))
      }
    }

    @Test(arguments: [true, false])
    func `a closed stream closes as soon as the peer's FIN arrives`(
      isPeerFirst: Bool
    ) async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let (client, server) = (pair.client.watch(), pair.server.watch())
        let clock = StoppedClock(of: loop)
        if isPeerFirst {
          pair.server.shutdownWrite()
          #expect(await client.next() == .end)
          pair.client.close()
          #expect(await client.next() == .closed(nil))
        } else {
          pair.client.close()
          #expect(await server.next() == .end)
          #expect(client.count == 0)
          pair.server.shutdownWrite()
          #expect(await client.next() == .closed(nil))
        }
        try await clock.advance(by: .seconds(6))
        #expect(client.count == 0 && !pair.client.isOpen && pair.server.isOpen)
      }
    }
  }
#endif
