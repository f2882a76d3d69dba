import CaromCore
import Testing

@testable import CaromTransport

@Suite(.timeLimit(.minutes(1))) struct TCPStreamTests {
  @Test func `bytes are sent in both directions`() async throws {
    try await onLoop { loop in
      let pair = try await makePair(on: loop)
      let (client, server) = (pair.client.watch(), pair.server.watch())
      try pair.client.write([1, 2, 3])
      #expect(await server.bytes(3) == [1, 2, 3])
      try pair.server.write([4, 5])
      #expect(await client.bytes(2) == [4, 5])
      #expect(pair.client.peerEndpoint == pair.server.localEndpoint)
    }
  }

  @Test func `a half-closed stream still receives, and an orderly close reports nil`() async throws
  {
    try await onLoop { loop in
      let pair = try await makePair(on: loop)
      let (client, server) = (pair.client.watch(), pair.server.watch())
      try pair.client.write([1])
      pair.client.shutdownWrite()
      #expect(throws: TransportError.closed) { try pair.client.write([2]) }
      #expect(await server.next() == .bytes([1]))
      #expect(await server.next() == .end)
      try pair.server.write([3])
      pair.server.close()
      #expect(await client.next() == .bytes([3]))
      #expect(await client.next() == .end)
      pair.client.close()
      #expect(await client.next() == .closed(nil))
      #expect(await server.next() == .closed(nil))
      #expect(!pair.client.isOpen && !pair.server.isOpen)
    }
  }

  @Test func `a reset is reported as connectionReset`() async throws {
    try await onLoop { loop in
      let pair = try await makePair(on: loop)
      let (client, server) = (pair.client.watch(), pair.server.watch())
      pair.client.reset()
      #expect(await server.next() == .closed(.connectionReset))
      #expect(await client.next() == .closed(.closed))
      #expect(throws: TransportError.closed) { try pair.server.write([1]) }
    }
  }

  @Test func `connecting to a port without a listener throws connectionRefused`() async throws {
    try await onLoop { loop in
      // No test listens at this address. A port of another one could be taken meanwhile.
      let endpoint = Endpoint(IPAddress("127.77.0.5")!, port: 9)
      do throws(TransportError) {
        _ = try await TCPStream.connect(to: [endpoint], on: loop)
        Issue.record("connected to a closed port")
      } catch {
        #expect(error == .connectionRefused)
      }
    }
  }
}
