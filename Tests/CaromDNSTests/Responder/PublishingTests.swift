import CaromCore
import CaromDNS
import Testing

@Suite struct PublishingTests {
  private func makePublished(_ service: Registration = SimulatedNetwork.makeService()) -> (
    network: SimulatedNetwork, id: PublicationID
  ) {
    var network = SimulatedNetwork()
    network.addNode(1)
    let id = network.publish(0, service)
    network.run(for: .seconds(5))
    network.log = []
    return (network, id)
  }

  private func makeUnique(_ name: String) -> Registration {
    var service = SimulatedNetwork.makeService(name)
    service.isUnique = true
    return service
  }

  @Test func `R42: a service with a known unique name is announced at once`() throws {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.addNode(2)
    network.browse(1)
    network.run(for: .seconds(5))
    let start = network.now
    network.publish(0, makeUnique("5b9c3f8e"))
    #expect(network.names(0) == ["5b9c3f8e"])
    let deadline = network.now.advanced(by: .seconds(1))
    _ = network.with(1) {
      $0.resolve(SimulatedNetwork.makeInstance("5b9c3f8e"), deadline: deadline, at: $1)
    }
    #expect(network.run(until: deadline) { !$0.resolutions(1).isEmpty })
    #expect(network.now - start <= .milliseconds(30))
    #expect(network.changes(1) == ["+5b9c3f8e"])
    #expect(network.resolutions(1).first??.endpoints == [Endpoint(.v4(0x0A00_0001), port: 7777)])
    network.run(for: .seconds(5))
    #expect(network.probes(0).isEmpty)
    #expect(network.packets(0, responses: true).count == 2)
  }

  @Test func `R42: a host with a known unique name is not probed, but other names are`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.publish(0, makeUnique("5b9c3f8e"))
    network.publish(0)
    network.run(for: .seconds(5))
    #expect(network.names(0) == ["5b9c3f8e", "Maya's table"])
    #expect(network.probes(0).count == 3)
    for probe in network.probes(0) {
      #expect(
        probe.message.questions.map(\.key.name) == ["host1.local", SimulatedNetwork.makeInstance()])
    }
    network.nodes = []
    network.log = []
    network.addNode("h-7f3a", [SimulatedNetwork.makeAttachment(0, 2, 3)], isHostUnique: true)
    network.publish(0)
    network.run(for: .seconds(5))
    #expect(network.probes(0).allSatisfy { $0.message.questions.count == 1 })
  }

  @Test func `R42: a supposedly unique name that is taken is replaced`() throws {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.addNode(2)
    network.publish(0, makeUnique("twin"))
    network.publish(1, makeUnique("twin"))
    network.run(for: .seconds(10))
    #expect(Set([0, 1].map { network.names($0).last }).count == 2)
  }

  @Test func `renaming a service sends a goodbye, probes and announces`() {
    var (network, id) = makePublished()
    network.rename(0, id, to: "Leo's table")
    #expect(network.log.map(\.message.isResponse) == [true])
    let goodbyes = network.log[0].message.answers
    #expect(goodbyes.map(\.type) == [.ptr, .srv, .txt])
    #expect(goodbyes.allSatisfy { $0.timeToLive == 0 })
    network.run(for: .seconds(5))
    #expect(network.probes(0).count == 3)
    #expect(
      network.probes(0).allSatisfy {
        $0.message.questions.map(\.key.name) == [SimulatedNetwork.makeInstance("Leo's table")]
      })
    #expect(network.packets(0, responses: true).count == 3)
    #expect(network.names(0) == ["Maya's table", "Leo's table"])
    #expect(
      network.nodes[0].events.last?.event == .responder(.renamed(id, name: "Leo's table")))
    network.log = []
    network.rename(0, id, to: "Leo's table")
    #expect(network.log.isEmpty)
    #expect(throws: PublicationError.name(.empty)) {
      try network.with(0) { try $0.rename(id, to: "", at: $1) }
    }
  }

  @Test func `R45 R78: subtypes can be changed, and removed ones get a goodbye`() {
    var service = SimulatedNetwork.makeService()
    service.subtypes = ["_ranked", "_duo"]
    var (network, id) = makePublished(service)
    network.update(0, id, subtypes: ["_duo", "_open"])
    #expect(network.log.count == 2)
    let goodbye = network.log[0].message.answers
    #expect(goodbye.map(\.name) == ["_ranked._sub._airhockey._tcp.local"])
    #expect(goodbye.map(\.timeToLive) == [0])
    #expect(network.log[1].message.answers.map(\.name) == ["_open._sub._airhockey._tcp.local"])
    #expect(network.names(0) == ["Maya's table"])
    #expect(throws: PublicationError.subtype("")) {
      try network.with(0) { try $0.update(id, subtypes: [""], at: $1) }
    }
  }

  @Test func `R61: a service is published only on the links that it names`() {
    var network = SimulatedNetwork()
    network.addNode(
      "host", [SimulatedNetwork.makeAttachment(0, 2, 1), SimulatedNetwork.makeAttachment(1, 3, 1)])
    var service = SimulatedNetwork.makeService()
    service.links = [3]
    let id = network.publish(0, service)
    network.run(for: .seconds(5))
    #expect(network.names(0) == ["Maya's table"])
    #expect(network.log.count == 5)
    #expect(network.log.allSatisfy { $0.segment == 1 })
    network.publish(0, "Everywhere")
    network.run(for: .seconds(5))
    network.log = []
    network.with(0) { $0.withdraw(id, at: $1) }
    network.run(for: .milliseconds(20))
    #expect(network.log.map(\.segment) == [1])
    #expect(!network.log[0].message.answers.map(\.type).contains(.a))
  }

  @Test func `R36 R7: probes ask for unicast responses while those reach this process`() {
    var network = SimulatedNetwork()
    var attachment = SimulatedNetwork.makeAttachment(0, 2, 1)
    attachment.link.receivesUnicast = true
    network.addNode("host", [attachment])
    let id = network.publish(0)
    network.run(for: .seconds(5))
    #expect(network.probes(0).count == 3)
    #expect(network.probes(0).flatMap(\.message.questions).allSatisfy { $0.wantsUnicast })
    attachment.link.receivesUnicast = false
    network.log = []
    network.setLinks(0, [attachment])
    network.run(for: .seconds(5))
    // Only the name of the host's address is withdrawn, since it is left to the other responder.
    #expect(network.sentRecords(0).map(\.name) == ["1.0.0.10.in-addr.arpa"])
    network.log = []
    network.rename(0, id, to: "Other")
    network.run(for: .seconds(5))
    #expect(network.probes(0).count == 3)
    #expect(network.probes(0).flatMap(\.message.questions).allSatisfy { !$0.wantsUnicast })
  }

  @Test func `a second service with the same name on one responder is renamed at once`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.publish(0)
    network.publish(0, port: 7778)
    network.run(for: .seconds(5))
    #expect(network.names(0) == ["Maya's table", "Maya's table (2)"])
    #expect(network.probes(0).count == 3)
    var service = SimulatedNetwork.makeService()
    service.renames = false
    #expect(throws: PublicationError.nameTaken) {
      try network.with(0) { try $0.publish(service, at: $1) }
    }
  }
}
