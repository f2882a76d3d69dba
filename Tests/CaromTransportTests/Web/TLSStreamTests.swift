#if os(Linux)
  import CaromCore
  import TestClock
  import TestTLS
  import Testing

  @testable import CaromTransport

  /// A client on a stream in plaintext, whose bytes it encrypts itself.
  private final class RemoteClient {
    let tls: TLSClient
    let stream: TCPStream
    let events: Events<Seen>

    init(on stream: TCPStream, _ tls: TLSClient = TLSClient()) {
      (self.stream, self.tls) = (stream, tls)
      events = stream.watch()
    }

    func flush() throws {
      let bytes = tls.take()
      if !bytes.isEmpty { try stream.write(bytes) }
    }

    func connect() async throws {
      while true {
        try flush()
        if tls.isEstablished { return }
        guard case .bytes(let bytes) = await events.next(), tls.receive(bytes) else { return }
      }
    }

    func write(_ bytes: [UInt8]) throws {
      #expect(tls.write(bytes))
      try flush()
    }

    func read(_ count: Int) async -> [UInt8] {
      var all = tls.read()
      while all.count < count, case .bytes(let bytes) = await events.next() {
        tls.receive(bytes)
        all += tls.read()
      }
      return all
    }
  }

  /// Streams whose bytes TLS carries, on loopback.
  @Suite(
    .timeLimit(.minutes(1)), .enabled(if: TestCertificate.program != nil, "openssl is missing"))
  struct TLSStreamTests {
    @Test func `bytes pass in both directions, and both ends are told`() async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let server = try pair.becomeTLS()
        #expect(pair.server.isTLS && !pair.client.isTLS)
        #expect(throws: TransportError.closed) { try pair.server.write([1]) }
        let client = RemoteClient(on: pair.client)
        try await client.connect()
        try client.write([1, 2, 3])
        #expect(await server.next() == .bytes([1, 2, 3]))
        try pair.server.write([4, 5])
        #expect(await client.read(2) == [4, 5])
        // A peer that has finished sending can still receive.
        client.tls.finish()
        try client.flush()
        #expect(await server.next() == .end)
        try pair.server.write([6])
        #expect(await client.read(1) == [6])
        pair.server.close()
        #expect(await client.read(1) == [])
        #expect(client.tls.hasEnded)
        pair.client.close()
        #expect(await server.next() == .closed(nil))
      }
    }

    @Test func `an end without close_notify is an end`() async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let server = try pair.becomeTLS()
        let client = RemoteClient(on: pair.client)
        try await client.connect()
        pair.client.shutdownWrite()
        #expect(await server.next() == .end)
        pair.server.shutdownWrite()
        #expect(await client.read(1) == [] && client.tls.hasEnded)
      }
    }

    @Test func `a failed handshake is answered with an alert, then the stream is closed`()
      async throws
    {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let server = try pair.becomeTLS()
        let client = RemoteClient(on: pair.client, TLSClient(newest: .tls11))
        try client.flush()
        guard case .bytes(let alert) = await client.events.next() else {
          Issue.record("no alert")
          return
        }
        #expect(alert.suffix(2) == [2, 70])
        #expect(await client.events.next() == .end)
        pair.client.close()
        #expect(await server.next() == .closed(nil))
      }
    }

    @Test func `a forged record breaks the stream`() async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let server = try pair.becomeTLS()
        let client = RemoteClient(on: pair.client)
        try await client.connect()
        try client.write([1])
        #expect(await server.next() == .bytes([1]))
        try pair.client.write([0x17, 3, 3, 0, 20] + [UInt8](repeating: 1, count: 20))
        #expect(await server.next() == .closed(.connectionReset))
      }
    }

    /// With a limit of the queue, bytes either all go out, encrypted, or none.
    @Test func `what encryption adds needs no room in the queue`() async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let server = try pair.becomeTLS()
        let client = RemoteClient(on: pair.client)
        try await client.connect()
        try client.write([1])
        #expect(await server.next() == .bytes([1]))
        var sent = 0
        while pair.server.queuedBytes == 0 {
          try pair.server.write([UInt8](repeating: 1, count: 100_000))
          sent += 100_000
        }
        pair.server.queueLimit = pair.server.queuedBytes + 1000
        #expect(throws: TransportError.queueFull) {
          try pair.server.write([UInt8](repeating: 2, count: 1001))
        }
        try pair.server.write([UInt8](repeating: 3, count: 1000))
        #expect(pair.server.queuedBytes > pair.server.queueLimit)
        let received = await client.read(sent + 1000)
        #expect(received.count == sent + 1000 && received.last == 3 && !received.contains(2))
      }
    }

    @Test func `a WebSocket is carried, with its pings and its end`() async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let clock = StoppedClock(of: loop)
        let before = try pair.becomeTLS()
        let client = RemoteClient(on: pair.client)
        try await client.connect()
        try client.write([1])
        #expect(await before.next() == .bytes([1]))
        try pair.server.becomeWebSocket()
        let server = pair.server.watch()
        try client.write([0x82, 0x82, 0, 0, 0, 0, 7, 8])
        #expect(await server.next() == .bytes([7, 8]))
        try pair.server.write([9])
        #expect(await client.read(3) == [0x82, 1, 9])
        try client.write([0x89, 0x80, 0, 0, 0, 0])
        #expect(await client.read(2) == [0x8A, 0])
        try await clock.advance(by: .seconds(10))
        #expect(await client.read(2) == [0x89, 0])
        pair.server.close()
        #expect(await client.read(4) == [0x88, 2, 0x03, 0xE8])
      }
    }

    @Test func `a moved stream continues in the middle of a record`() async throws {
      try await withNetworkLoop(name: "other") { second in
        let other = StreamOwner(on: second)
        try await onLoop { loop in
          let pair = try await makePair(on: loop)
          let server = try pair.becomeTLS()
          let client = RemoteClient(on: pair.client)
          try await client.connect()
          try client.write([1])
          #expect(await server.next() == .bytes([1]))
          #expect(client.tls.write([2, 3]))
          let record = client.tls.take()
          try pair.client.write(Array(record.prefix(9)))
          try await pass(on: loop)
          let detached = try pair.server.detach()
          #expect(!pair.server.isTLS && !pair.server.isOpen)
          try await other.attach(detached)
          try pair.client.write(Array(record.dropFirst(9)))
          #expect(await other.next() == .bytes([2, 3]))
          try await other.write([5])
          #expect(await client.read(1) == [5])
          await other.close()
          #expect(await client.read(1) == [] && client.tls.hasEnded)
        }
      }
    }
  }

  extension Pair {
    /// Makes the server's end the server of a TLS connection, and collects its events.
    fileprivate func becomeTLS() throws -> Events<Seen> {
      try server.becomeTLS(try TestCertificate.load())
      return server.watch()
    }
  }
#endif
