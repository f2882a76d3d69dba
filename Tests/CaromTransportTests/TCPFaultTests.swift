#if os(Linux)
  import CSystemCalls
  import CaromCore
  import Glibc
  import Testing

  @testable import CaromTransport

  /// Tests of what streams do when reading, writing and closing fail.
  @Suite(.timeLimit(.minutes(1))) struct TCPFaultTests {
    private static let bytes = (0..<100).map { UInt8($0) }

    // Reading

    @Test(arguments: [EINTR, EAGAIN])
    func `a read that fails for the moment is repeated`(code: Int32) async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let server = pair.server.watch()
        let fault = Fault(SC_RECV, code, count: 6)
        try pair.client.write(Self.bytes)
        #expect(await server.bytes(100) == Self.bytes)
        #expect(fault.hits == 6 && server.count == 0 && pair.server.isOpen)
      }
    }

    @Test func `a read of a part of the bytes is followed by the rest`() async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let server = pair.server.watch()
        let fault = Fault(SC_RECV, count: 30, limit: 3)
        try pair.client.write(Self.bytes)
        #expect(await server.next() == .bytes([0, 1, 2]))
        #expect(await server.bytes(97) == Array(Self.bytes[3...]))
        #expect(fault.hits == 30)
      }
    }

    @Test(arguments: [
      (ECONNRESET, TransportError.connectionReset), (ETIMEDOUT, .timedOut),
      (EHOSTUNREACH, .unreachable), (ENOMEM, .system(code: ENOMEM, operation: "use a stream")),
    ])
    func `a read that fails for good closes the stream with its error`(
      code: Int32, error: TransportError
    ) async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let server = pair.server.watch()
        let before = Fault.descriptors
        let fault = Fault(SC_RECV, code)
        try pair.client.write(Self.bytes)
        #expect(await server.next() == .closed(error))
        #expect(fault.hits == 1 && !pair.server.isOpen && Fault.descriptors == before - 1)
        try await pass(on: loop)
        #expect(server.count == 0)
      }
    }

    // Writing

    @Test(arguments: [EAGAIN, ENOBUFS])
    func `bytes for which there is no room are sent as soon as there is`(
      code: Int32
    ) async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let server = pair.server.watch()
        let short = Fault(SC_SEND, limit: 7)
        let full = Fault(SC_SEND, code, count: 3)
        try pair.client.write(Self.bytes)
        #expect(short.hits == 1 && full.hits == 1 && pair.client.queuedBytes == 93)
        try pair.client.write([100])
        #expect(full.hits == 1, "a write joins the queue")
        #expect(await server.bytes(101) == Self.bytes + [100])
        #expect(full.hits == 3 && pair.client.queuedBytes == 0)
      }
    }

    @Test func `a stream that refused a write reports that it is writable once its queue is empty`()
      async throws
    {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let (client, server) = (pair.client.watch(), pair.server.watch())
        pair.client.queueLimit = 1000
        Fault(SC_SEND, EAGAIN)
        try pair.client.write(Self.bytes)
        let rest = [UInt8](repeating: 7, count: 900)
        #expect(throws: TransportError.queueFull) { try pair.client.write(rest + [7]) }
        #expect(pair.client.queuedBytes == 100 && client.count == 0)
        #expect(await server.bytes(100) == Self.bytes)
        #expect(client.count == 1 && client.first == .writable)
        Fault(SC_SEND, EAGAIN)
        try pair.client.write(Self.bytes)
        try pair.client.write(rest)
        #expect(pair.client.queuedBytes == 1000, "the queue holds as many bytes as its limit")
        #expect(await server.bytes(1000) == Self.bytes + rest)
      }
    }

    @Test func `an interrupted write is repeated at once, and short ones are continued`()
      async throws
    {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let server = pair.server.watch()
        let interrupted = Fault(SC_SEND, EINTR, count: 2)
        let short = Fault(SC_SEND, count: 20, limit: 1)
        try pair.client.write(Self.bytes)
        #expect(interrupted.hits == 2 && short.hits == 20 && pair.client.queuedBytes == 0)
        #expect(await server.bytes(100) == Self.bytes)
      }
    }

    @Test(arguments: [
      (EPIPE, TransportError.connectionReset), (ECONNRESET, .connectionReset),
      (ETIMEDOUT, .timedOut), (EHOSTUNREACH, .unreachable), (EPERM, .permissionDenied),
      (ENOMEM, .system(code: ENOMEM, operation: "write to a stream")),
    ])
    func `a write that fails throws, and the stream is closed with the same error`(
      code: Int32, error: TransportError
    ) async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let client = pair.client.watch()
        let before = Fault.descriptors
        let fault = Fault(SC_SEND, code)
        #expect(throws: error) { try pair.client.write(Self.bytes) }
        #expect(fault.hits == 1 && client.count == 0, "closed is reported later")
        #expect(await client.next() == .closed(error))
        #expect(throws: TransportError.closed) { try pair.client.write([1]) }
        #expect(Fault.descriptors == before - 1 && client.count == 0)
      }
    }

    @Test(arguments: [
      (EPIPE, TransportError.connectionReset), (ECONNRESET, .connectionReset),
      (ETIMEDOUT, .timedOut), (ENOMEM, .system(code: ENOMEM, operation: "use a stream")),
    ])
    func `queued bytes that cannot be sent close the stream with the error`(
      code: Int32, error: TransportError
    ) async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let client = pair.client.watch()
        let before = Fault.descriptors
        Fault(SC_SEND, EAGAIN)
        let fault = Fault(SC_SEND, code)
        try pair.client.write(Self.bytes)
        #expect(fault.hits == 0 && pair.client.queuedBytes == 100)
        #expect(await client.next() == .closed(error))
        #expect(fault.hits == 1 && Fault.descriptors == before - 1 && client.count == 0)
      }
    }

    @Test func `a peer never takes the first part of a write that failed for the whole`()
      async throws
    {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let (client, server) = (pair.client.watch(), pair.server.watch())
        Fault(SC_SEND, limit: 7)
        Fault(SC_SEND, EAGAIN)
        let fault = Fault(SC_REALLOC, ENOMEM)
        let error = TransportError.system(code: ENOMEM, operation: "write to a stream")
        #expect(throws: error) { try pair.client.write(Self.bytes) }
        #expect(fault.hits == 1)
        #expect(await client.next() == .closed(error))
        var last = await server.next()
        if case .bytes = last { last = await server.next() }
        #expect(last == .closed(.connectionReset), "an orderly end would hide the loss")
      }
    }

    // Closing and options

    @Test(arguments: [
      (ENOTCONN, TransportError.connectionReset),
      (ENOBUFS, .system(code: ENOBUFS, operation: "close a stream")),
    ])
    func `a stream that cannot be shut down is closed with the error`(
      code: Int32, error: TransportError
    ) async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let client = pair.client.watch()
        let before = Fault.descriptors
        let fault = Fault(SC_SHUTDOWN, code)
        pair.client.shutdownWrite()
        #expect(await client.next() == .closed(error))
        #expect(fault.hits == 1 && !pair.client.isOpen && Fault.descriptors == before - 1)
      }
    }

    @Test func `closing a stream that the peer has reset reports the reset`() async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let client = pair.client.watch()
        pair.server.reset()
        pair.client.close()
        #expect(await client.next() == .closed(.connectionReset))
      }
    }

    @Test func `options that the system refuses throw and leave the stream as it was`()
      async throws
    {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let keepAlive = TransportError.system(code: ENOPROTOOPT, operation: "set keep-alive")
        for skipped in 0..<4 {
          let fault = Fault(SC_SETSOCKOPT, ENOPROTOOPT, after: skipped)
          #expect(throws: keepAlive) { try pair.client.setKeepAlive(idle: .seconds(2)) }
          #expect(fault.hits == 1)
          Fault.disarm()
        }
        Fault(SC_SETSOCKOPT, EINVAL)
        #expect(throws: TransportError.system(code: EINVAL, operation: "set the user timeout")) {
          try pair.client.setUserTimeout(.seconds(1))
        }
        Fault(SC_SETSOCKOPT, EPERM)
        #expect(throws: TransportError.permissionDenied) { try pair.client.setSendBuffer(4096) }
        let server = pair.server.watch()
        try pair.client.write([1])
        #expect(await server.next() == .bytes([1]))
      }
    }
  }
#endif
