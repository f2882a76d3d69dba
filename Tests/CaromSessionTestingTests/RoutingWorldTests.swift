import CaromSessionTesting
import Testing

/// Routing bytes on virtual time.
@Suite struct RoutingWorldTests {
  /// Plays for 20 s over a path that carries `mtu` bytes, and returns the sizes of the packets that
  /// the client and the host have found to arrive.
  private static func findPacketSizes(
    mtu: Int, _ routing: DatagramRouting?, replies: DatagramRouting? = nil
  ) async throws -> (client: Int?, host: Int?) {
    var conditions = LinkConditions.lan
    conditions.mtu = PathMTU(mtu)
    return try await SessionWorld.run(seed: 5, conditions: conditions) { world in
      let (server, client) = (world.addHost(), world.addHost())
      return try await Session.host(
        as: .maya, over: .datagram, routing: SessionRouting(sent: replies, received: routing),
        loop: server.loop
      ) { hosting, port in
        try await Session.join(
          [Endpoint(server.v4, port: port)], as: .leo, over: .datagram,
          routing: SessionRouting(sent: routing, received: replies), loop: client.loop
        ) { session, host in
          async let _ = hosting.echo()
          for number in 0..<200 {
            try await host.send("\(number)", on: .lines)
            try await world.sleep(for: .milliseconds(100))
          }
          #expect(await session.take(200, on: .lines).last == "199")
          let atHost = await hosting.peers.first?.statistics
          return (await host.statistics?.packetSize, atHost?.packetSize)
        }
      }
    }
  }

  @Test func `the routing bytes are part of what a path has to carry`() async throws {
    let suffix = try DatagramRouting.suffix([UInt8](repeating: 0xAB, count: 17))
    // 28 bytes are the headers of IPv4 and UDP.
    var sizes = try await Self.findPacketSizes(mtu: 1_500, nil)
    #expect(sizes == (1_472, 1_472))
    sizes = try await Self.findPacketSizes(mtu: 1_500, suffix)
    #expect(sizes == (1_455, 1_472))
    sizes = try await Self.findPacketSizes(mtu: 1_400, suffix, replies: suffix)
    #expect(sizes == (1_335, 1_335))
  }

  @Test func `a path that carries the minimum of IPv6 has room for 32 routing bytes`()
    async throws
  {
    let prefix = try DatagramRouting.prefix([UInt8](repeating: 0xAB, count: 32))
    let sizes = try await Self.findPacketSizes(mtu: 1_260, prefix, replies: prefix)
    #expect(sizes == (1_200, 1_200))
  }
}
