import CaromCore
import CaromDNS
import Testing

/// Goodbyes and announcements after this host's addresses or cable change.
@Suite struct AddressChangeTests {
  private func goodbyes(_ network: SimulatedNetwork) -> [RecordData] {
    network.packets(0, responses: true).flatMap(\.message.answers).filter { $0.timeToLive == 0 }
      .map(\.data)
  }

  @Test func `R45 R46: only a removed address gets a goodbye`() throws {
    var network = SimulatedNetwork()
    network.addNode("host", [SimulatedNetwork.makeAttachment(0, 2, 1, dualStack: true)])
    network.addNode(2, dualStack: true)
    network.publish(0)
    network.run(for: .seconds(5))
    network.log = []
    let start = network.now
    var attachment = SimulatedNetwork.makeAttachment(0, 2, 1, dualStack: true)
    attachment.link = Link(index: 2, addresses: attachment.link.addresses.filter(\.address.isV6))
    network.setLinks(0, [attachment])
    #expect(goodbyes(network) == [.address(.v4(0x0A00_0001))])
    #expect(network.packets(0, responses: true).allSatisfy { $0.at == start })
    network.run(for: .seconds(4))
    let key = RecordKey("host.local", .a)
    #expect(network.nodes[1].machine.cachedRecords(key.name, key.type, at: network.now).isEmpty)
    #expect(!network.nodes[1].machine.cachedRecords(key.name, .aaaa, at: network.now).isEmpty)
  }

  @Test func `R46: after a cable change names are claimed and questions asked again`()
    throws
  {
    var (network, _) = SimulatedNetwork.makePublished()
    network.browse(0)
    network.run(for: .seconds(30))
    network.log = []
    var attachment = network.nodes[0].attachments[0]
    attachment.link.epoch += 2
    network.setLinks(0, [attachment])
    let before = network.changes(0)
    network.run(for: .seconds(3))
    #expect(network.probes(0).count == 3 && network.packets(0, responses: true).count >= 2)
    #expect(
      network.packets(0, responses: false).count > 3,
      "a question was sent in addition to the probes")
    #expect(goodbyes(network).isEmpty && network.changes(0) == before)
  }
}
