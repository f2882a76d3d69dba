import CaromCore
import CaromDNS
import Testing

@Suite struct QuerierTests {
  private func makePair(dualStack: Bool = false) -> SimulatedNetwork {
    var network = SimulatedNetwork()
    network.addNode(1, dualStack: dualStack)
    network.addNode(2, dualStack: dualStack)
    return network
  }

  @Test func `a running service is found within 270 ms, in three packets with 350 bytes in total`()
    throws
  {
    var network = makePair()
    network.publish(0)
    network.run(for: .seconds(5))
    // A node that joins now has an empty cache.
    network.addNode(3)
    network.log = []
    let start = network.now
    network.browse(2)
    network.run(for: .milliseconds(2500))
    let found = try #require(network.nodes[2].events.first)
    #expect(network.changes(2) == ["+Maya's table"])
    #expect(found.at - start <= .milliseconds(270))
    guard case .querier(.added(_, let service)) = found.event else { return }
    #expect(service.text?["seats"] == "1/2")
    #expect(network.log.count == 3)
    #expect(network.log.reduce(0) { $0 + $1.transmit.payload.count } <= 350)
  }

  @Test func `cached services are reported at once, without a packet`() {
    var network = makePair()
    network.publish(0)
    network.run(for: .seconds(5))
    network.log = []
    network.browse(1)
    #expect(network.changes(1) == ["+Maya's table"])
    #expect(network.log.isEmpty)
  }

  @Test func `a new service is found and resolved within 1050 ms`() throws {
    var network = makePair()
    network.browse(1)
    network.run(for: .seconds(60))
    let start = network.now
    network.publish(0)
    network.run(for: .seconds(3))
    let found = try #require(network.nodes[1].events.first)
    #expect(found.at - start <= .milliseconds(1050))
    let deadline = network.now.advanced(by: .seconds(1))
    let before = network.now
    _ = network.with(1) { $0.resolve(SimulatedNetwork.makeInstance(), deadline: deadline, at: $1) }
    #expect(network.nodes[1].events.last?.at == before)
    #expect(network.resolutions(1).first??.endpoints == [Endpoint(.v4(0x0A00_0001), port: 7777)])
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>, [false, true])
  func `an idle pair sends only one query an hour for each address family`(
    seed: UInt64, dualStack: Bool
  ) {
    var network = SimulatedNetwork(seed: seed)
    network.addNode(1, dualStack: dualStack)
    network.addNode(2, dualStack: dualStack)
    network.publish(0)
    network.browse(1)
    network.run(for: .seconds(3 * 3600))
    network.log = []
    network.run(for: .seconds(10 * 3600))
    let families = dualStack ? 2 : 1
    #expect(network.packets(1, responses: false).count <= 10 * families)
    #expect(network.packets(0, responses: true).count <= 10 * families)
    #expect(network.packets(0, responses: false).isEmpty)
    #expect(network.changes(1) == ["+Maya's table"])
  }

  @Test func `a changed TXT record is reported once, and an unchanged one is not`() {
    var network = makePair()
    let id = network.publish(0)
    network.browse(1)
    network.run(for: .seconds(5))
    network.update(0, id, text: ["seats": "2/2"])
    network.run(for: .seconds(5))
    network.update(0, id, text: ["seats": "2/2"])
    network.run(for: .seconds(5))
    #expect(network.changes(1) == ["+Maya's table", "~Maya's table"])
  }

  @Test func `addresses of both families are resolved, link-local ones with their scope`() throws {
    var network = makePair(dualStack: true)
    network.publish(0)
    network.run(for: .seconds(5))
    let deadline = network.now.advanced(by: .seconds(2))
    _ = network.with(1) { $0.resolve(SimulatedNetwork.makeInstance(), deadline: deadline, at: $1) }
    network.run(for: .seconds(2))
    let resolution = try #require(network.resolutions(1).first ?? nil)
    let v6 = IPAddress.v6(high: 0xFE80 << 48, low: 1, scope: 2)
    #expect(
      resolution.endpoints == [
        Endpoint(.v4(0x0A00_0001), port: 7777), Endpoint(v6, port: 7777),
      ])
  }

  @Test func `resolving a name that does not exist fails once, at the deadline`() {
    var network = makePair()
    let deadline = network.now.advanced(by: .seconds(2))
    _ = network.with(1) {
      $0.resolve(SimulatedNetwork.makeInstance("nobody"), deadline: deadline, at: $1)
    }
    network.run(for: .seconds(10))
    #expect(network.nodes[1].events.count == 1)
    #expect(network.nodes[1].events.first?.at == deadline)
    #expect(network.resolutions(1).count == 1)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `a service is found despite 50 percent packet loss`(seed: UInt64) {
    var network = SimulatedNetwork(seed: seed)
    network.addNode(1)
    network.addNode(2)
    network.loss = 0.5
    network.publish(0)
    network.browse(1)
    let end = network.now.advanced(by: .seconds(120))
    let found = network.run(until: end) { $0.changes(1).first == "+Maya's table" }
    #expect(found)
  }

  @Test func `a new interface is probed, announced and browsed within 1100 ms`() throws {
    var network = SimulatedNetwork()
    network.addNode("a", [])
    network.addNode(2)
    network.publish(0)
    network.browse(1)
    network.run(for: .seconds(60))
    #expect(network.changes(1).isEmpty)
    let start = network.now
    network.setLinks(0, [SimulatedNetwork.makeAttachment(0, 2, 1)])
    network.run(for: .seconds(2))
    #expect(network.changes(1) == ["+Maya's table"])
    #expect(try #require(network.nodes[1].events.last?.at) - start <= .milliseconds(1100))
  }

  @Test func `eight processes on one host find each other and themselves`() {
    var network = SimulatedNetwork()
    for process in 0..<8 {
      network.addNode(1, name: "shared")
      network.publish(process, "t\(process)", port: UInt16(1000 + process))
      network.browse(process)
    }
    network.run(for: .seconds(5))
    for process in 0..<8 {
      #expect(network.changes(process).sorted() == (0..<8).map { "+t\($0)" })
    }
  }

  @Test func `many services of one host are found in few packets and not repeated`() {
    #if DEBUG
      let services = 60
    #else
      let services = 300
    #endif
    var network = SimulatedNetwork()
    network.addNode(1)
    for index in 0..<services { network.publish(0, "table \(index)", port: UInt16(1000 + index)) }
    network.run(for: .seconds(10))
    let browser = network.addNode(2)
    network.log = []
    network.browse(browser)
    network.run(for: .milliseconds(300))
    #expect(network.changes(browser).count == services)
    #expect(network.packets(0, responses: true).count <= services / 10 + 1)
    #expect(network.log.allSatisfy { $0.transmit.payload.count <= 1452 })
    network.log = []
    network.run(for: .seconds(5))
    #expect(network.packets(0, responses: true).isEmpty)
    #expect(network.log.allSatisfy { $0.transmit.payload.count <= 1452 })
  }

  @Test func `many hosts are found within 350 ms`() {
    #if DEBUG
      let hosts = 20
    #else
      let hosts = 50
    #endif
    var network = SimulatedNetwork()
    for host in 0..<hosts {
      network.addNode(UInt8(host + 1))
      network.publish(host, "table \(host)")
    }
    network.run(for: .seconds(10))
    let browser = network.addNode(99)
    network.log = []
    network.browse(browser)
    network.run(for: .milliseconds(350))
    #expect(network.changes(browser).count == hosts)
    #expect(network.log.count <= hosts + 2)
  }
}
