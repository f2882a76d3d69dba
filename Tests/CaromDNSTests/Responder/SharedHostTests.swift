import CaromCore
import CaromDNS
import Testing

/// What becomes of names and answers when hosts share data, rename themselves or lose a link.
@Suite struct SharedHostTests {
  private func makeAddress(_ last: UInt32, of name: Name = "host1.local") -> Record {
    Record(name, .address(.v4(0x0A00_0000 | last)), timeToLive: 120, flushesCache: true)
  }

  @Test func `R35 R54: another host's copy of one of several addresses does not cancel the answer`()
  {
    for theirs in [[UInt32](), [1], [11], [77]] {
      var network = SimulatedNetwork()
      var attachment = SimulatedNetwork.makeAttachment(0, 2, 1)
      attachment.link.addresses.append(Link.Address(.v4(0x0A00_000B), prefixLength: 24))
      network.addNode("host1", [attachment])
      network.publish(0)
      network.run(for: .seconds(5))
      network.log = []
      network.ask([Question("host1.local", .a), Question(SimulatedNetwork.type.name(), .ptr)])
      // From an address of the host itself, so that no conflict arises.
      network.respond(theirs.map { makeAddress($0) }, from: 1)
      network.run(for: .milliseconds(900))
      let addresses = network.packets(0, responses: true).flatMap(\.message.answers)
        .filter { $0.type == .a }
      #expect(Set(addresses) == [makeAddress(1), makeAddress(11)])
    }
  }

  @Test func `R48 R62: another address for the host's name is no conflict if this host sent it`() {
    for (sender, probes) in [(1, false), (9, true)] as [(UInt8, Bool)] {
      var (network, _) = SimulatedNetwork.makePublished()
      network.log = []
      network.respond([makeAddress(77)], from: sender)
      network.run(for: .seconds(2))
      #expect(network.probes(0).isEmpty == !probes)
    }
  }

  @Test func `R48: a service's other data is a conflict even if this host sent it`() {
    var (network, _) = SimulatedNetwork.makePublished()
    network.log = []
    network.respond([SimulatedNetwork.makeServer(port: 1)], from: 1)
    network.run(for: .seconds(2))
    #expect(!network.probes(0).isEmpty)
  }

  @Test func `R45 R63: after the host was renamed, its services' SRV records are announced`() {
    var (network, _) = SimulatedNetwork.makePublished()
    network.log = []
    network.respond([makeAddress(77)])
    let probed = network.run(until: network.now.advanced(by: .seconds(2))) {
      !$0.probes(0).isEmpty
    }
    #expect(probed)
    network.respond([makeAddress(77)])
    network.run(for: .seconds(5))
    let targets = network.packets(0, responses: true).flatMap(\.message.answers).compactMap {
      if case .service(_, _, _, let target) = $0.data { target } else { nil }
    }
    #expect(network.nodes[0].machine.hostName == "host1-2.local")
    #expect(targets.filter { $0 == "host1-2.local" }.count >= 2)
  }

  @Test func `a service is published once the last link without its name is gone`() {
    var network = SimulatedNetwork()
    let attachments = (0..<2).map { SimulatedNetwork.makeAttachment($0, UInt32(2 + $0), 1) }
    network.addNode("host1", [attachments[0]])
    network.publish(0)
    network.run(for: .milliseconds(700))
    network.setLinks(0, attachments)
    network.run(for: .milliseconds(400))
    #expect(network.names(0).isEmpty)
    network.setLinks(0, [attachments[0]])
    #expect(network.names(0) == ["Maya's table"])
    network.run(for: .seconds(5))
    #expect(network.names(0) == ["Maya's table"])
  }

  @Test func `R42 R46: names that are known to be unique are not probed after a sleep either`() {
    var network = SimulatedNetwork()
    network.addNode(
      "host1", [SimulatedNetwork.makeAttachment(0, 2, 1)], isHostUnique: true)
    var service = SimulatedNetwork.makeService()
    service.isUnique = true
    network.publish(0, service)
    network.run(for: .seconds(5))
    network.log = []
    network.with(0) { $0.reclaimNames(at: $1) }
    network.run(for: .seconds(5))
    #expect(network.probes(0).isEmpty)
    let announced = Set(network.packets(0, responses: true).flatMap(\.message.answers).map(\.type))
    #expect(announced == [.a, .ptr, .srv, .txt])
    #expect(network.names(0) == ["Maya's table"])
  }

  @Test func `R49: a conflict of long ago does not shorten the minute for a free name`() {
    var (network, _) = SimulatedNetwork.makePublished()
    for round in 1...3 {
      network.log = []
      network.respond([SimulatedNetwork.makeServer(port: 1)])
      network.run(for: .seconds(2))
      #expect(network.probes(0).count == 3)
      network.run(for: .seconds(round == 1 ? 57 : 7200))
    }
    #expect(network.names(0) == ["Maya's table"])
    #expect(network.nodes[0].events.count == 1)
  }
}
