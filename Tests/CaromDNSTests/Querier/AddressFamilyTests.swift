import CaromCore
import CaromDNS
import Testing

/// How a resolve operation treats the addresses of the family that arrives last.
@Suite struct AddressFamilyTests {
  private static let text = SimulatedNetwork.makeText(["seats": "1/2"])
  private static let v4 = SimulatedNetwork.makeAddress()
  private static let v6 = Record(
    "host9.local", .address(.v6(high: 0xFE80 << 48, low: 9, scope: 0)), timeToLive: 120,
    flushesCache: true)

  private func makeNetwork(dualStack: Bool = true) -> SimulatedNetwork {
    var network = SimulatedNetwork()
    network.addNode(1, dualStack: dualStack)
    return network
  }

  /// The families of the endpoints of each result so far.
  private func families(_ network: SimulatedNetwork) -> [[Bool]] {
    network.resolutions(0).map { $0?.endpoints.map(\.address.isV6) ?? [] }
  }

  @Test(arguments: [true, false])
  func `resolving waits for the addresses of the other family`(startsWithV6: Bool) {
    var network = makeNetwork()
    _ = network.resolve(0)
    network.respond([
      SimulatedNetwork.makeServer(), Self.text, startsWithV6 ? Self.v6 : Self.v4,
    ])
    network.run(for: .milliseconds(30))
    #expect(families(network) == [])
    network.respond([startsWithV6 ? Self.v4 : Self.v6])
    // Link-local IPv6 comes after an IPv4 address that is not link-local.
    #expect(families(network) == [[false, true]])
  }

  @Test func `resolving waits at most 50 ms for the other family`() {
    var network = makeNetwork()
    _ = network.resolve(0)
    network.respond([SimulatedNetwork.makeServer(), Self.text, Self.v6])
    network.run(for: .milliseconds(48))
    #expect(families(network) == [])
    network.run(for: .milliseconds(2))
    #expect(families(network) == [[true]])
  }

  @Test func `resolving does not wait for a family that the host denies`() {
    var network = makeNetwork()
    _ = network.resolve(0)
    network.respond([
      SimulatedNetwork.makeServer(), Self.text, Self.v4,
      SimulatedNetwork.makeDenial("host9.local", has: [.a]),
    ])
    #expect(families(network) == [[false]])
  }

  @Test func `resolving does not wait for a family that the link does not use`() {
    var network = makeNetwork(dualStack: false)
    _ = network.resolve(0)
    network.respond([SimulatedNetwork.makeServer(), Self.text, Self.v4])
    #expect(families(network) == [[false]])
  }

  @Test func `the wait for the other family ends with the deadline`() {
    var network = makeNetwork()
    _ = network.resolve(0, within: .milliseconds(20))
    network.respond([SimulatedNetwork.makeServer(), Self.text, Self.v4])
    #expect(families(network) == [])
    network.run(for: .milliseconds(20))
    #expect(families(network) == [[false]])
  }

  @Test func `monitored endpoints are reported again when a late family arrives`() throws {
    var network = makeNetwork()
    let id = try #require(
      network.with(0) { $0.monitorEndpoints(of: SimulatedNetwork.makeInstance(), at: $1) })
    network.respond([SimulatedNetwork.makeServer(), Self.text, Self.v6])
    network.run(for: .milliseconds(60))
    network.respond([Self.v4])
    network.respond([Self.v4, Self.v6])
    #expect(families(network) == [[true], [false, true]])
    network.with(0) { machine, _ in machine.cancelResolve(id) }
    network.respond([SimulatedNetwork.makeServer(port: 8888)])
    #expect(families(network).count == 2)
    network.log = []
    network.run(for: .seconds(300))
    #expect(network.log.isEmpty)
  }

  @Test func `monitored endpoints follow the service to another host`() throws {
    var network = makeNetwork(dualStack: false)
    _ = network.with(0) { $0.monitorEndpoints(of: SimulatedNetwork.makeInstance(), at: $1) }
    network.respond([SimulatedNetwork.makeServer(), Self.text, Self.v4])
    network.run(for: .seconds(5))
    network.respond([
      SimulatedNetwork.makeServer(host: "host8.local"),
      SimulatedNetwork.makeAddress(8, of: "host8.local"),
    ])
    let expected: [Endpoint] = [9, 8].map { Endpoint(.v4(0x0A00_0000 | $0), port: 7777) }
    #expect(network.resolutions(0).map { $0?.endpoints } == expected.map { [$0] })
    // The former host's addresses are no longer asked for, not even when they expire.
    network.log = []
    network.run(for: .seconds(130))
    let asked = network.questions(0, .a).map(\.question.key.name)
    #expect(!asked.isEmpty && asked.allSatisfy { $0 == "host8.local" })
  }
}
