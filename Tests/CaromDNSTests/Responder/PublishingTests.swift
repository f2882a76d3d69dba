import CaromCore
import CaromDNS
import Testing

@Suite struct PublishingTests {
  private func makePublished(_ service: Registration = Hub.makeService()) -> (
    hub: Hub, id: PublicationID
  ) {
    var hub = Hub()
    hub.addNode(1)
    let id = hub.publish(0, service)
    hub.run(for: .seconds(5))
    hub.log = []
    return (hub, id)
  }

  private func makeUnique(_ name: String) -> Registration {
    var service = Hub.makeService(name)
    service.isUnique = true
    return service
  }

  @Test func `R42: a name that is unique by construction is announced at once`() throws {
    var hub = Hub()
    hub.addNode(1)
    hub.addNode(2)
    hub.browse(1)
    hub.run(for: .seconds(5))
    let start = hub.now
    hub.publish(0, makeUnique("5b9c3f8e"))
    #expect(hub.names(0) == ["5b9c3f8e"])
    let deadline = hub.now.advanced(by: .seconds(1))
    _ = hub.with(1) {
      $0.resolve(Hub.makeInstance("5b9c3f8e"), deadline: deadline, at: $1)
    }
    #expect(hub.run(until: deadline) { !$0.resolutions(1).isEmpty })
    #expect(hub.now - start <= .milliseconds(30))
    #expect(hub.changes(1) == ["+5b9c3f8e"])
    #expect(hub.resolutions(1).first??.endpoints == [Endpoint(.v4(0x0A00_0001), port: 7777)])
    hub.run(for: .seconds(5))
    #expect(hub.probes(0).isEmpty)
    #expect(hub.packets(0, responses: true).count == 2)
  }

  @Test func `R42: a host of a unique name is not probed either, others beside it are`() {
    var hub = Hub()
    hub.addNode(1)
    hub.publish(0, makeUnique("5b9c3f8e"))
    hub.publish(0)
    hub.run(for: .seconds(5))
    #expect(hub.names(0) == ["5b9c3f8e", "Maya's table"])
    #expect(hub.probes(0).count == 3)
    for probe in hub.probes(0) {
      #expect(probe.message.questions.map(\.key.name) == ["host1.local", Hub.makeInstance()])
    }
    hub.nodes = []
    hub.log = []
    hub.addNode("h-7f3a", [Hub.makeAttachment(0, 2, 3)], isHostUnique: true)
    hub.publish(0)
    hub.run(for: .seconds(5))
    #expect(hub.probes(0).allSatisfy { $0.message.questions.count == 1 })
  }

  @Test func `R42: a unique name that somebody else has all the same is claimed anew`() throws {
    var hub = Hub()
    hub.addNode(1)
    hub.addNode(2)
    hub.publish(0, makeUnique("twin"))
    hub.publish(1, makeUnique("twin"))
    hub.run(for: .seconds(10))
    #expect(Set([0, 1].map { hub.names($0).last }).count == 2)
  }

  @Test func `a service gets another name at run time: goodbye, probe, announce`() {
    var (hub, id) = makePublished()
    hub.rename(0, id, to: "Leo's table")
    #expect(hub.log.map(\.message.isResponse) == [true])
    let goodbyes = hub.log[0].message.answers
    #expect(goodbyes.map(\.type) == [.ptr, .srv, .txt])
    #expect(goodbyes.allSatisfy { $0.timeToLive == 0 })
    hub.run(for: .seconds(5))
    #expect(hub.probes(0).count == 3)
    #expect(
      hub.probes(0).allSatisfy {
        $0.message.questions.map(\.key.name) == [Hub.makeInstance("Leo's table")]
      })
    #expect(hub.packets(0, responses: true).count == 3)
    #expect(hub.names(0) == ["Maya's table", "Leo's table"])
    #expect(
      hub.nodes[0].events.last?.event == .responder(.renamed(id, name: "Leo's table")))
    hub.log = []
    hub.rename(0, id, to: "Leo's table")
    #expect(hub.log.isEmpty)
    #expect(throws: PublicationError.name(.empty)) {
      try hub.with(0) { try $0.rename(id, to: "", at: $1) }
    }
  }

  @Test func `R45: new strings are told ten times a minute; later ones together, none lost`() {
    var (hub, id) = makePublished()
    for round in 1...200 {
      hub.update(0, id, text: ["round": "\(round)"])
      hub.run(for: .milliseconds(100))
    }
    let texts = { (hub: Hub) in
      hub.packets(0, responses: true).flatMap(\.message.answers).compactMap { record in
        if case .text(let bytes) = record.data { TXTRecord(decoding: bytes)["round"] } else { nil }
      }
    }
    #expect(Set(texts(hub)) == Set((1...10).map { "\($0)" }))
    hub.run(for: .seconds(60))
    #expect(texts(hub).suffix(2) == ["200", "200"])
    #expect(Set(texts(hub)).count == 11)
  }

  @Test func `R45: strings that are back before their turn are not told again`() {
    var (hub, id) = makePublished()
    for round in 1...10 { hub.update(0, id, text: ["round": "\(round)"]) }
    hub.run(for: .seconds(5))
    hub.log = []
    hub.update(0, id, text: ["round": "11"])
    hub.update(0, id, text: ["round": "10"])
    hub.run(for: .seconds(120))
    #expect(hub.log.isEmpty)
  }

  @Test func `R45 R78: subtypes change at run time; those that go get a goodbye`() {
    var service = Hub.makeService()
    service.subtypes = ["_ranked", "_duo"]
    var (hub, id) = makePublished(service)
    hub.update(0, id, subtypes: ["_duo", "_open"])
    #expect(hub.log.count == 2)
    let goodbye = hub.log[0].message.answers
    #expect(goodbye.map(\.name) == ["_ranked._sub._airhockey._tcp.local"])
    #expect(goodbye.map(\.timeToLive) == [0])
    let names = hub.log[1].message.answers.map(\.name)
    #expect(names.contains("_open._sub._airhockey._tcp.local"))
    #expect(names.contains("_duo._sub._airhockey._tcp.local"))
    #expect(hub.names(0) == ["Maya's table"])
    #expect(throws: PublicationError.subtype("")) {
      try hub.with(0) { try $0.update(id, subtypes: [""], at: $1) }
    }
  }

  @Test func `R61: a service is published on the links that it names, and nowhere else`() {
    var hub = Hub()
    hub.addNode("host", [Hub.makeAttachment(0, 2, 1), Hub.makeAttachment(1, 3, 1)])
    var service = Hub.makeService()
    service.links = [3]
    let id = hub.publish(0, service)
    hub.run(for: .seconds(5))
    #expect(hub.names(0) == ["Maya's table"])
    #expect(hub.log.count == 5)
    #expect(hub.log.allSatisfy { $0.segment == 1 })
    hub.publish(0, "Everywhere")
    hub.run(for: .seconds(5))
    hub.log = []
    hub.with(0) { $0.withdraw(id, at: $1) }
    #expect(hub.log.map(\.segment) == [1])
    #expect(!hub.log[0].message.answers.map(\.type).contains(.a))
  }

  @Test func `R36 R7: probes ask for unicast answers where those reach this process`() {
    var hub = Hub()
    var attachment = Hub.makeAttachment(0, 2, 1)
    attachment.link.receivesUnicast = true
    hub.addNode("host", [attachment])
    let id = hub.publish(0)
    hub.run(for: .seconds(5))
    #expect(hub.probes(0).count == 3)
    #expect(hub.probes(0).flatMap(\.message.questions).allSatisfy { $0.wantsUnicast })
    attachment.link.receivesUnicast = false
    hub.log = []
    hub.setLinks(0, [attachment])
    hub.run(for: .seconds(5))
    #expect(hub.log.isEmpty)
    hub.rename(0, id, to: "Other")
    hub.run(for: .seconds(5))
    #expect(hub.probes(0).count == 3)
    #expect(hub.probes(0).flatMap(\.message.questions).allSatisfy { !$0.wantsUnicast })
  }

  @Test func `names of one publisher do not collide on the link: the second is renamed at once`() {
    var hub = Hub()
    hub.addNode(1)
    hub.publish(0)
    hub.publish(0, port: 7778)
    hub.run(for: .seconds(5))
    #expect(hub.names(0) == ["Maya's table", "Maya's table (2)"])
    #expect(hub.probes(0).count == 3)
    var service = Hub.makeService()
    service.renames = false
    #expect(throws: PublicationError.nameTaken) {
      try hub.with(0) { try $0.publish(service, at: $1) }
    }
  }
}
