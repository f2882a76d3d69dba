import CaromCore
import CaromDNS
import CaromTransport
import Testing

@testable import CaromDiscovery

/// What happens at the end of a scope or of a loop, and what a link is made of.
@Suite(.timeLimit(.minutes(1))) struct EndingTests {
  private struct Failure: Error {}

  @Test func `when the body of an advertiser throws, its service is withdrawn, others are not`()
    async throws
  {
    let type = try Loopback.makeType()
    try await withNetworkLoop { here in
      try await withNetworkLoop { there in
        var changes = Loopback.browser(type, here).changes.makeAsyncIterator()
        let first = Loopback.makeService(type, "A")
        let second = Loopback.makeService(type, "B")
        try await Loopback.advertiser(first, there).run { _ in
          _ = try await changes.next()
          do {
            try await Loopback.advertiser(second, there).run { _ in
              _ = try await changes.next()
              throw Failure()
            }
          } catch is Failure {}
          let removed = try #require(try await changes.next())
          guard case .removed(let gone) = removed else { return fail() }
          #expect(gone.name == "B")
        }
      }
    }
  }

  @Test func `a query to a name server throws closed when the loop shuts down`() async throws {
    try await withNetworkLoop { there in
      let server = UnicastNameServer(on: there, zone: [])
      let endpoint = try await server.open()
      await server.stopAnswering(.a)
      let loop = try NetworkLoop()
      let client = UnicastClient(on: loop)
      let task = Task { try await client.ask("a.example.com", .a, of: [endpoint]) }
      while await server.queries.isEmpty { await Task.yield() }
      await loop.shutdown()
      await #expect(throws: UnicastError.closed) { _ = try await task.value }
      await #expect(throws: UnicastError.closed) {
        _ = try await client.ask("a.example.com", .a, of: [endpoint])
      }
    }
  }

  @Test func `R65: a link has the largest packet of its interface as its MTU, if it is known`()
    async throws
  {
    let lo = try #require(Loopback.interface)
    let mtus = try await onLoop { loop in
      try [1280, 0, 9000].map { size in
        var interface = lo
        interface.largestPacket = size
        let socket = try InterfaceSocket(on: loop, interface) { _ in }
        defer { socket.close() }
        return socket.link.mtu
      }
    }
    #expect(mtus == [1280, nil, 9000])
  }

  @Test func `a loopback interface publishes its IPv4 addresses only, if it has any`() {
    let v4 = Interface.Address(.loopback4, prefixLength: 8)
    let v6 = Interface.Address(.v6(high: 0, low: 1, scope: 0), prefixLength: 128)
    for (isLoopback, addresses, published) in [
      (true, [v4, v6], [8]), (true, [v6], [128]), (false, [v4, v6], [8, 128]), (true, [], []),
    ] as [(Bool, [Interface.Address], [Int])] {
      var interface = Interface(name: "x", index: 5)
      interface.isLoopback = isLoopback
      interface.addresses = addresses
      #expect(InterfaceSocket.advertised(interface).map(\.prefixLength) == published)
    }
  }

  @Test func `counters are added one by one`() {
    var sum = DiscoveryCounters()
    for unit in [1, 10] {
      var counters = DiscoveryCounters()
      counters.oversized = 2 * unit
      counters.offLink = 3 * unit
      counters.malformed = 4 * unit
      counters.notStandard = 5 * unit
      counters.foreignPort = 6 * unit
      sum.add(counters)
    }
    let fields = [
      sum.oversized, sum.offLink, sum.malformed, sum.notStandard, sum.foreignPort,
    ]
    #expect(fields == [22, 33, 44, 55, 66])
  }
}
