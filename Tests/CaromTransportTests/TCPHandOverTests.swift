import CaromCore
import Foundation
import Testing

@testable import CaromTransport

@Suite(.timeLimit(.minutes(1))) struct TCPHandOverTests {
  @Test func `replacing the handler under traffic loses and duplicates no bytes`() async throws {
    #if DEBUG
      let rounds = 300
    #else
      let rounds = 10_000
    #endif
    try await onLoop { loop in
      let accepted = Events<TCPStream>()
      let listener = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) { event in
        if case .accepted(let stream) = event { accepted.add(stream) }
      }
      for round in 0..<rounds {
        let client = try await TCPStream.connect(to: [listener.localEndpoint], on: loop)
        try client.write([0, 1, 2])
        let server = await accepted.next()
        if round % 2 == 0 { await Task.yield() }
        try client.write([3, 4])
        let (first, second) = (Events<Seen>(), Events<Seen>())
        server.setHandler { [weak server] event in
          first.add(Seen(event))
          server?.setHandler { second.add(Seen($0)) }
        }
        try client.write([5, 6, 7])
        client.shutdownWrite()
        guard case .bytes(let head) = await first.next() else { return }
        let tail = await second.bytes(8 - head.count)
        #expect(head + tail == [0, 1, 2, 3, 4, 5, 6, 7])
        #expect(await second.next() == .end)
        #expect(first.count == 0 && second.count == 0)
        server.reset()
      }
    }
  }

  @Test func `nothing is read without a handler or while reading is paused`() async throws {
    try await onLoop { loop in
      let pair = try await makePair(on: loop)
      let first = pair.server.watch()
      try pair.client.write([1])
      #expect(await first.next() == .bytes([1]))
      pair.server.pauseReading()
      try pair.client.write([2])
      let second = pair.server.watch()
      try await pass(on: loop)
      #expect(first.count == 0 && second.count == 0)
      pair.server.setHandler(nil)
      pair.server.resumeReading()
      try await pass(on: loop)
      #expect(second.count == 0)
      let third = pair.server.watch()
      #expect(await third.next() == .bytes([2]))
    }
  }

  @Test func `a handler that is set after the end receives closed`() async throws {
    try await onLoop { loop in
      let pair = try await makePair(on: loop)
      let seen = pair.server.watch()
      pair.server.setHandler(nil)
      pair.server.reset()
      try await pass(on: loop)
      #expect(seen.count == 0)
      #expect(await pair.server.watch().next() == .closed(.closed))
    }
  }

  @Test func `closed is reported once, as the last event, however often a stream is closed`()
    async throws
  {
    try await onLoop { loop in
      let pair = try await makePair(on: loop)
      let (client, server) = (pair.client.watch(), pair.server.watch())
      try pair.client.write([1])
      pair.server.close()
      pair.server.close()
      #expect(await client.next() == .end)
      pair.client.close()
      pair.client.close()
      pair.client.reset()
      _ = await client.next()
      _ = await server.next()
      pair.server.reset()
      try await pass(on: loop)
      #expect(client.count == 0 && server.count == 0)
    }
  }

  @Test func `releasing a stream or a listener closes it`() async throws {
    try await onLoop { loop in
      let accepted = Events<TCPStream>()
      var listener: TCPListener? = try TCPListener(
        on: loop, bind: Endpoint(ownAddress, port: 0)
      ) { event in
        if case .accepted(let stream) = event { accepted.add(stream) }
      }
      let address = try #require(listener?.localEndpoint)
      let client = try await TCPStream.connect(to: [address], on: loop)
      let seen = client.watch()
      _ = await accepted.next()
      #expect(await seen.next() == .end)
      listener = nil
      await #expect(throws: TransportError.connectionRefused) {
        _ = try await TCPStream.connect(to: [address], on: loop)
      }
    }
  }

  #if os(Linux)
    @Test func `a closed listener refuses connections though a copy of its descriptor is open`()
      async throws
    {
      try await onLoop { loop in
        let listener = try TCPListener(on: loop, bind: Endpoint(ownAddress, port: 0)) { _ in }
        let address = listener.localEndpoint
        // A process that is being started has such copies.
        let copy = dup(try descriptor(listeningOn: address.port))
        defer { close(copy) }
        listener.close()
        await #expect(throws: TransportError.connectionRefused) {
          _ = try await TCPStream.connect(to: [address], on: loop)
        }
      }
    }

    /// Returns the descriptor of this process that listens on a port of `ownAddress`.
    private func descriptor(listeningOn port: UInt16) throws -> Int32 {
      let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
      return try #require(names.compactMap { Int32($0) }.first { isListening($0, on: port) })
    }

    private func isListening(_ descriptor: Int32, on port: UInt16) -> Bool {
      var address = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let status = unsafe withUnsafeMutableBytes(of: &address) { bytes in
        unsafe getsockname(
          descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
      }
      var (listens, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
      guard status == 0, address.sin_family == sa_family_t(AF_INET),
        address.sin_addr.s_addr == ownAddressBits.bigEndian, address.sin_port == port.bigEndian
      else { return false }
      return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0
        && listens != 0
    }
  #endif

  private var ownAddressBits: UInt32 { 0x7F00_004D }

  /// An address at which no other test listens, so that no other listener can be given a port that
  /// was closed.
  private var ownAddress: IPAddress {
    #if os(Linux)
      .v4(ownAddressBits)
    #else
      .loopback4
    #endif
  }
}

/// Waits for round trips over another socket, so that everything that was readable has been read.
func pass(on loop: NetworkLoop) async throws {
  let pair = try await makePair(on: loop)
  let (client, server) = (pair.client.watch(), pair.server.watch())
  for _ in 0..<3 {
    try pair.client.write([0])
    _ = await server.next()
    try pair.server.write([0])
    _ = await client.next()
  }
}
