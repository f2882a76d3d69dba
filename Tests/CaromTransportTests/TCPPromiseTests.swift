import CaromCore
import Testing

@testable import CaromTransport

/// The promises of `TCPStream` and `TCPListener` about queues, ends, handlers and ports.
@Suite(.timeLimit(.minutes(1))) struct TCPPromiseTests {
  /// Fills the system's buffers, so that all further bytes stay in the stream's queue. Returns the
  /// number of bytes written.
  private func fill(_ stream: TCPStream) throws -> Int {
    var written = 0
    let chunk = [UInt8](repeating: 1, count: 1 << 20)
    while stream.queuedBytes == 0 {
      try stream.write(chunk)
      written += chunk.count
    }
    return written
  }

  @Test func `a queue takes bytes up to its limit, and any number of them while it is empty`()
    async throws
  {
    try await onLoop { loop in
      let pair = try await makePair(on: loop)
      #expect(pair.client.queueLimit == 1 << 20 && TCPStream.defaultQueueLimit == 1 << 20)
      pair.client.queueLimit = 1  // less than the first write
      var written = try fill(pair.client)
      let queued = pair.client.queuedBytes
      #expect(throws: TransportError.queueFull) { try pair.client.write([1]) }
      pair.client.queueLimit = queued + 10
      try pair.client.write([UInt8](repeating: 2, count: 10))
      #expect(throws: TransportError.queueFull) { try pair.client.write([1]) }
      #expect(pair.client.queuedBytes == queued + 10)
      written += 10
      let server = pair.server.watch()
      let bytes = await server.bytes(written)
      #expect(bytes.count == written && bytes.suffix(11) == [1] + [UInt8](repeating: 2, count: 10))
    }
  }

  @Test func `a queue that never exceeded half of its limit is not reported as writable`()
    async throws
  {
    try await onLoop { loop in
      let pair = try await makePair(on: loop)
      let client = pair.client.watch()
      pair.client.queueLimit = 64 << 20
      // The second time, the queue begins with the memory that is left from the first.
      for _ in 0..<2 {
        pair.server.setHandler(nil)
        let written = try fill(pair.client)
        #expect(await pair.server.watch().bytes(written).count == written)
        try await pass(on: loop)
        #expect(client.count == 0 && pair.client.queuedBytes == 0)
      }
    }
  }

  @Test func `a queue that exceeded half of its limit is reported as writable once, at half of it`()
    async throws
  {
    try await onLoop { loop in
      let pair = try await makePair(on: loop)
      var queued: [Int] = []
      pair.client.setHandler { [weak stream = pair.client] event in
        if case .writable = event { queued.append(stream?.queuedBytes ?? -1) }
      }
      pair.client.queueLimit = 64 << 20
      let written = try fill(pair.client)
      pair.client.queueLimit = 2 * pair.client.queuedBytes - 2
      // The queue exceeds half of its limit by one byte; the next write notices that.
      try pair.client.write([1])
      #expect(await pair.server.watch().bytes(written + 1).count == written + 1)
      try await pass(on: loop)
      #expect(queued.count == 1 && queued[0] <= pair.client.queueLimit / 2)
      // A queue that then remains below half of the limit is not reported.
      pair.server.setHandler(nil)
      pair.client.queueLimit = 64 << 20
      let more = try fill(pair.client)
      #expect(await pair.server.watch().bytes(more).count == more)
      try await pass(on: loop)
      #expect(queued.count == 1 && pair.client.queuedBytes == 0)
    }
  }

  @Test func `both ends know their addresses, and what the other has ended`() async throws {
    try await onLoop { loop in
      let pair = try await makePair(on: loop)
      #expect(pair.client.localEndpoint == pair.server.peerEndpoint)
      #expect(pair.client.peerEndpoint == pair.server.localEndpoint)
      #expect(pair.server.localEndpoint == pair.listener.localEndpoint)
      let (client, server) = (pair.client.watch(), pair.server.watch())
      #expect(!pair.server.hasEnded && pair.server.isOpen)
      pair.client.shutdownWrite()
      #expect(await server.next() == .end)
      #expect(pair.server.hasEnded && !pair.client.hasEnded && pair.server.isOpen)
      #expect(throws: TransportError.closed) { try pair.client.write([1]) }
      try pair.server.write([2])
      #expect(await client.next() == .bytes([2]))
      pair.server.close()
      #expect(throws: TransportError.closed) { try pair.server.write([3]) }
      #expect(await server.next() == .closed(nil))
      #expect(!pair.server.isOpen)
      #expect(await client.next() == .end)
      #expect(pair.client.hasEnded && pair.client.isOpen && client.count == 0)
    }
  }

  @Test func `a reset reports closed to its owner, and connectionReset to the peer`() async throws {
    try await onLoop { loop in
      let pair = try await makePair(on: loop)
      let (client, server) = (pair.client.watch(), pair.server.watch())
      pair.client.reset()
      #expect(client.count == 0, "the owner's call returns first")
      #expect(!pair.client.isOpen)
      #expect(throws: TransportError.closed) { try pair.client.write([1]) }
      #expect(await client.next() == .closed(.closed))
      #expect(await server.next() == .closed(.connectionReset))
      try await pass(on: loop)
      #expect(client.count == 0 && server.count == 0)
    }
  }

  @Test func `no bytes follow a close or a pause inside the handler`() async throws {
    try await onLoop { loop in
      for closes in [false, true] {
        let pair = try await makePair(on: loop)
        let seen = Events<Seen>()
        pair.client.queueLimit = 64 << 20
        let bytes = [UInt8](repeating: 1, count: 1 << 20)
        try pair.client.write(bytes)
        pair.server.setHandler { [weak stream = pair.server] event in
          seen.add(Seen(event))
          guard case .bytes = event else { return }
          if closes { stream?.close() } else { stream?.pauseReading() }
        }
        guard case .bytes(let first) = await seen.next() else { return }
        if closes {
          pair.client.close()
          guard case .closed = await seen.next() else {
            Issue.record("an event between close and closed")
            return
          }
        } else {
          try await pass(on: loop)
          #expect(seen.count == 0)
          let rest = pair.server.watch()
          pair.server.resumeReading()
          #expect(await rest.bytes(bytes.count - first.count).count == bytes.count - first.count)
        }
      }
    }
  }

  @Test func `a stream that is released after close still sends its bytes`() async throws {
    try await onLoop { loop in
      let accepted = Events<TCPStream>()
      let listener = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) { event in
        if case .accepted(let stream) = event { accepted.add(stream) }
      }
      var client: TCPStream? = try await TCPStream.connect(
        to: [listener.localEndpoint], on: loop)
      let server = await accepted.next()
      let written = try fill(try #require(client))
      client?.close()
      client = nil
      let seen = server.watch()
      #expect(await seen.bytes(written).count == written)
      #expect(await seen.next() == .end)
    }
  }

  @Test func `bytes stay whole and in order through a queue that grows, moves and shrinks`()
    async throws
  {
    try await onLoop { loop in
      let pair = try await makePair(on: loop)
      try pair.client.setSendBuffer(20_000)
      pair.client.queueLimit = 600_000
      var generator = SeededGenerator(seed: 11)
      let client = pair.client.watch()
      let server = Events<Seen>()
      var received: [UInt8] = []
      pair.server.setHandler { event in
        guard case .bytes(let bytes) = event else { return server.add(Seen(event)) }
        received += Array(copying: bytes)
      }
      var sent: [UInt8] = []
      let noise = (0..<100_000).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
      while sent.count < 8_000_000 {
        let length = Int.random(in: 1...90_000, using: &generator)
        let chunk = Array(noise[Int.random(in: 0...10_000, using: &generator)...].prefix(length))
        do throws(TransportError) {
          try pair.client.write(chunk)
          sent += chunk
        } catch {
          #expect(error == .queueFull && pair.client.queuedBytes + length > 600_000)
          #expect(await client.next() == .writable)
        }
      }
      pair.client.shutdownWrite()
      #expect(await server.next() == .end)
      #expect(received == sent)
    }
  }

  @Test func `a listener that does not accept leaves peers waiting, and accepts them later`()
    async throws
  {
    try await onLoop { loop in
      let accepted = Events<Endpoint>()
      var streams: [TCPStream] = []
      let listener = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) { event in
        guard case .accepted(let stream) = event else { return }
        streams.append(stream)
        accepted.add(stream.peerEndpoint)
      }
      #expect(listener.isOpen && !listener.isPaused && listener.acceptedCount == 0)
      listener.setAccepting(false)
      let client = try await TCPStream.connect(to: [listener.localEndpoint], on: loop)
      try await pass(on: loop)
      #expect(accepted.count == 0 && listener.acceptedCount == 0)
      listener.setAccepting(true)
      #expect(await accepted.next() == client.localEndpoint)
      #expect(listener.acceptedCount == 1 && listener.lostCount == 0 && listener.pauseCount == 0)
      let seen = client.watch()
      listener.close()
      #expect(!listener.isOpen)
      try streams[0].write([7])
      #expect(await seen.next() == .bytes([7]), "accepted streams stay open")
    }
  }

  @Test func `listeners share a port only if all of them want to`() async throws {
    try await onLoop { loop in
      var sharing = TCPListener.Options()
      sharing.reusePort = true
      let first = try TCPListener(
        on: loop, bind: Endpoint(.loopback4, port: 0), options: sharing
      ) { _ in }
      let local = first.localEndpoint
      #expect(throws: TransportError.addressInUse(port: local.port)) {
        _ = try TCPListener(on: loop, bind: local) { _ in }
      }
      let second = try TCPListener(on: loop, bind: local, options: sharing) { _ in }
      #expect(second.localEndpoint == local && first.isOpen)
      let alone = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) { _ in }
      #expect(throws: TransportError.addressInUse(port: alone.localEndpoint.port)) {
        _ = try TCPListener(on: loop, bind: alone.localEndpoint, options: sharing) { _ in }
      }
    }
  }

  @Test func `an IPv6 listener accepts IPv4 peers only if its options say so`() async throws {
    try await onLoop { loop in
      var options = TCPListener.Options()
      #expect(options.v6Only)
      options.v6Only = false
      let accepted = Events<TCPStream>()
      let both = try TCPListener(on: loop, bind: Endpoint(.any6, port: 0), options: options) {
        event in if case .accepted(let stream) = event { accepted.add(stream) }
      }
      for address in [IPAddress.loopback4, .loopback6] {
        let client = try await TCPStream.connect(
          to: [Endpoint(address, port: both.localEndpoint.port)], on: loop)
        let server = await accepted.next()
        #expect(server.peerEndpoint == client.localEndpoint)
        #expect(server.localEndpoint == client.peerEndpoint)
      }
      // The wildcard address of IPv4 is free only beside a listener for IPv6 alone. Another test
      // may have taken the port for IPv4.
      let isFree = (0..<10).contains { _ in
        guard let six = try? TCPListener(on: loop, bind: Endpoint(.any6, port: 0), { _ in }) else {
          return false
        }
        let four = Endpoint(.any4, port: six.localEndpoint.port)
        return (try? TCPListener(on: loop, bind: four, { _ in })) != nil
      }
      #expect(isFree)
      #expect(throws: TransportError.addressInUse(port: both.localEndpoint.port)) {
        _ = try TCPListener(
          on: loop, bind: Endpoint(.any4, port: both.localEndpoint.port)
        ) { _ in }
      }
    }
  }
}
