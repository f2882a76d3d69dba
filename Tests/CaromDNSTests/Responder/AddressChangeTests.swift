import CaromCore
import CaromDNS
import Testing

/// What others hear when this host's addresses or its cable change.
@Suite struct AddressChangeTests {
  private func goodbyes(_ hub: Hub) -> [RecordData] {
    hub.packets(0, responses: true).flatMap(\.message.answers).filter { $0.timeToLive == 0 }
      .map(\.data)
  }

  @Test func `R45 R46: an address that is gone gets a goodbye at once, the others none`() throws {
    var hub = Hub()
    hub.addNode("host", [Hub.makeAttachment(0, 2, 1, dualStack: true)])
    hub.addNode(2, dualStack: true)
    hub.publish(0)
    hub.run(for: .seconds(5))
    hub.log = []
    let start = hub.now
    var attachment = Hub.makeAttachment(0, 2, 1, dualStack: true)
    attachment.link = Link(index: 2, addresses: attachment.link.addresses.filter(\.address.isV6))
    hub.setLinks(0, [attachment])
    #expect(goodbyes(hub) == [.address(.v4(0x0A00_0001))])
    #expect(hub.packets(0, responses: true).allSatisfy { $0.at == start })
    hub.run(for: .seconds(4))
    let place = RecordKey("host.local", .a)
    #expect(hub.nodes[1].machine.cachedRecords(place.name, place.type, at: hub.now).isEmpty)
    #expect(!hub.nodes[1].machine.cachedRecords(place.name, .aaaa, at: hub.now).isEmpty)
  }

  @Test func `R46: a cable that was out for a moment has names claimed and questions asked again`()
    throws
  {
    var (hub, _) = Hub.makePublished()
    hub.browse(0)
    hub.run(for: .seconds(30))
    hub.log = []
    var attachment = hub.nodes[0].attachments[0]
    attachment.link.epoch += 2
    hub.setLinks(0, [attachment])
    let before = hub.changes(0)
    hub.run(for: .seconds(3))
    #expect(hub.probes(0).count == 3 && hub.packets(0, responses: true).count >= 2)
    #expect(hub.packets(0, responses: false).count > 3, "a question beside the probes")
    #expect(goodbyes(hub).isEmpty && hub.changes(0) == before)
  }
}
