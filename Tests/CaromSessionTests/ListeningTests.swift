import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport
import Testing

@Suite struct ListeningTests {
  @Test(arguments: [LinkKinds.datagram, .stream, .all])
  func `a call of listen that fails leaves no socket bound`(kinds: LinkKinds) async throws {
    try await withNetworkLoop { loop in
      let node = SessionNode(makePeer("host"), seats: 1, over: kinds, on: loop)
      // The second address repeats the first, so its port is taken. No other test listens at this
      // address, and the system gives no socket a port below 32768.
      let address = IPAddress("127.77.0.4")!
      let port = 7_710 + UInt16(kinds.rawValue)
      await #expect(throws: TransportError.addressInUse(port: port)) {
        try await node.listen(on: [address, address], port: port)
      }
      let other = SessionNode(makePeer("other"), seats: 1, over: kinds, on: loop)
      let reused = try await other.listen(on: [address], port: port)
      #expect(reused == port)
      await other.shutdown()
      await node.shutdown()
    }
  }

  @Test func `a retired node no longer listens`() async throws {
    try await withNetworkLoop { loop in
      let host = SessionNode(makePeer("host"), seats: 1, on: loop)
      // No other test listens at this address.
      let address = IPAddress("127.77.0.2")!
      let port = try await host.listen(on: [address])
      await host.retire()
      let client = SessionNode(makePeer("client"), seats: 0, over: .stream, on: loop)
      await #expect(throws: SessionError.transport(.connectionRefused)) {
        try await client.connect(to: [Endpoint(address, port: port)])
      }
      await client.shutdown()
      await host.shutdown()
    }
  }
}
