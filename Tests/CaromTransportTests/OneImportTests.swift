import CaromTransport
import Testing

@Test func `a socket needs no import but the transport's`() async throws {
  try await withNetworkLoop { loop in
    try await loop.run {
      let local = Endpoint(.loopback4, port: 0)
      let socket = try UDPSocket(on: loop, bind: local) { _ in }
      #expect(socket.localEndpoint.address == IPAddress.loopback4)
      let now: Instant = loop.now
      #expect(now > .zero)
    }
  }
}
