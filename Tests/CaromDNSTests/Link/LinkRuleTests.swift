import CaromCore
import CaromDNS
import Testing

/// Rules for several links, for links that change, and for names on the wire.
@Suite struct LinkRuleTests {
  @Test func `R46: a returning link is queried again after 1, 2 and 4 s, and other links are not`()
  {
    var network = SimulatedNetwork.makeWithOneNode(links: 2)
    var attachments = network.nodes[0].attachments
    network.browse(0)
    network.run(for: .seconds(100))
    network.setLinks(0, [attachments[0]])
    network.run(for: .milliseconds(100))
    network.log = []
    attachments[1].link.receivesUnicast = true
    network.setLinks(0, attachments)
    network.run(for: .seconds(10))
    #expect(network.log.map(\.transmit.interface) == [3, 3, 3, 3])
    #expect(
      network.log.map { $0.message.questions[0].wantsUnicast } == [true, false, false, false])
    #expect(network.log[0].at >= network.log[1].at.advanced(by: .milliseconds(-1000)))
  }

  @Test func `R46: new addresses restart questions; a new MTU or unicast reception does not`() {
    var network = SimulatedNetwork.makeWithOneNode(links: 2)
    var attachments = network.nodes[0].attachments
    network.browse(0)
    network.run(for: .seconds(100))
    network.log = []
    attachments[0].link.receivesUnicast = true
    attachments[0].link.mtu = 1280
    network.setLinks(0, attachments)
    network.run(for: .seconds(20))
    #expect(network.log.isEmpty)
    attachments[0] = SimulatedNetwork.makeAttachment(0, 2, 77)
    network.setLinks(0, attachments)
    network.run(for: .milliseconds(200))
    #expect(network.log.map(\.transmit.interface) == [2])
  }

  @Test func `R46: all questions are asked again after a sleep`() {
    var network = SimulatedNetwork.makeWithOneNode(links: 2)
    network.browse(0)
    network.run(for: .seconds(100))
    network.log = []
    network.with(0) { $0.restartQuestions(on: nil, at: $1) }
    network.run(for: .milliseconds(200))
    #expect(network.log.map(\.transmit.interface) == [2, 3])
  }

  @Test(arguments: [false, true])
  func `R46: records not repeated within ten seconds of a sleep or a cable change are removed`(
    isCable: Bool
  ) {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.addNode(2)
    network.publish(1)
    network.browse(0)
    network.respond([SimulatedNetwork.makePointer("left behind")])
    network.run(for: .seconds(100))
    let start = network.now
    if isCable {
      var attachments = network.nodes[0].attachments
      attachments[0].link.epoch += 1
      network.setLinks(0, attachments)
    } else {
      network.with(0) { $0.restartQuestions(on: nil, at: $1) }
    }
    network.run(for: .seconds(60))
    #expect(network.changes(0) == ["+left behind", "+Maya's table", "-left behind"])
    #expect(network.nodes[0].events.last.map { $0.at - start == .seconds(10) } == true)
  }

  @Test func `R56: records received on a link are removed with the link`() {
    var network = SimulatedNetwork.makeWithOneNode(links: 2)
    let attachments = network.nodes[0].attachments
    network.browse(0)
    network.respond([SimulatedNetwork.makePointer()], on: 0)
    network.respond([SimulatedNetwork.makePointer(), SimulatedNetwork.makePointer("B")], on: 1)
    network.setLinks(0, [attachments[0]])
    #expect(network.changes(0) == ["+Maya's table", "+B", "-B"])
    network.setLinks(0, [])
    #expect(network.changes(0) == ["+Maya's table", "+B", "-B", "-Maya's table"])
    #expect(
      network.nodes[0].machine.cachedRecords(SimulatedNetwork.type.name(), .ptr, at: network.now)
        .isEmpty)
  }

  @Test func `R61: a service on two links is reported once and stays while one link remains`() {
    var network = SimulatedNetwork.makeWithOneNode(links: 2)
    let attachments = network.nodes[0].attachments
    let other = network.addNode(
      "b", [SimulatedNetwork.makeAttachment(0, 2, 2), SimulatedNetwork.makeAttachment(1, 3, 2)])
    network.publish(other)
    network.browse(0)
    network.run(for: .seconds(10))
    network.setLinks(0, [attachments[0]])
    network.run(for: .seconds(10))
    #expect(network.changes(0) == ["+Maya's table"])
    network.setLinks(0, [])
    #expect(network.changes(0) == ["+Maya's table", "-Maya's table"])
  }

  @Test func `R61: when a link goes, the TXT record of the remaining link is reported`() throws {
    var network = SimulatedNetwork.makeWithOneNode(links: 2)
    let attachments = network.nodes[0].attachments
    network.browse(0)
    for segment in [0, 1] {
      let text = SimulatedNetwork.makeText(["link": "\(segment)"])
      network.respond([SimulatedNetwork.makePointer(), text], on: segment)
    }
    let before = network.changes(0)
    network.setLinks(0, [attachments[1]])
    #expect(network.changes(0) == before + ["~Maya's table"])
    guard case .updated(_, let service)? = network.querierEvents(0).last else { return }
    #expect(service.text == ["link": "1"] && service.interfaces == [3])
  }

  @Test func `R61: a host's addresses on all links are resolved, link-local ones with a scope`()
    throws
  {
    var network = SimulatedNetwork()
    network.addNode(
      "a", [0, 1].map { SimulatedNetwork.makeAttachment($0, UInt32(2 + $0), 1, dualStack: true) })
    let other = network.addNode(
      "b", [0, 1].map { SimulatedNetwork.makeAttachment($0, UInt32(2 + $0), 2, dualStack: true) })
    network.publish(other)
    network.run(for: .seconds(5))
    _ = network.resolve(0)
    let resolution = try #require(network.resolutions(0).first ?? nil)
    let fe80 = { (scope: UInt32) in
      Endpoint(.v6(high: 0xFE80 << 48, low: 2, scope: scope), port: 7777)
    }
    #expect(
      resolution.endpoints == [
        Endpoint(.v4(0x0A00_0002), port: 7777), fe80(2), Endpoint(.v4(0x0A00_0102), port: 7777),
        fe80(3),
      ])
    #expect(resolution.interface == 2)
  }

  @Test func `R61: services with the same name on two links do not share addresses`()
    throws
  {
    var network = SimulatedNetwork.makeWithOneNode(links: 2)
    network.browse(0)
    let all = { (host: UInt8, port: UInt16) in
      [
        SimulatedNetwork.makePointer(), SimulatedNetwork.makeServer(port: port),
        SimulatedNetwork.makeText([:]), SimulatedNetwork.makeAddress(host),
      ]
    }
    network.respond(all(8, 1), on: 0)
    network.respond(all(9, 2), on: 1)
    #expect(network.changes(0) == ["+Maya's table"])
    _ = network.resolve(0)
    let resolution = try #require(network.resolutions(0).first ?? nil)
    #expect(resolution.endpoints == [Endpoint(.v4(0x0A00_0008), port: 1)])
  }

  @Test(
    arguments: [
      (20, first: 0x0A14_1000, last: 0x0A14_1FFF), (23, first: 0x0A14_1E00, last: 0x0A14_1FFF),
      (24, first: 0x0A14_1E00, last: 0x0A14_1EFF), (31, first: 0x0A14_1E28, last: 0x0A14_1E29),
    ] as [(Int, first: UInt32, last: UInt32)])
  func `R59: the addresses on a link have the same IPv4 subnet prefix, to the bit`(
    length: Int, first: UInt32, last: UInt32
  ) {
    let address = Link.Address(.v4(0x0A14_1E28), prefixLength: length)
    let link = Link(index: 2, addresses: [address])
    #expect(link.isOnLink(.v4(first)) && link.isOnLink(.v4(last)))
    #expect(!link.isOnLink(.v4(first - 1)) && !link.isOnLink(.v4(last + 1)))
    #expect(!link.isOnLink(.v6(high: 0, low: UInt64(first), scope: 2)))
  }

  @Test func `R59: the addresses on a link have the same IPv6 subnet prefix, to the bit`() {
    let high: UInt64 = 0x2001_0DB8_0000_0044
    let address = Link.Address(.v6(high: high, low: 1, scope: 0), prefixLength: 62)
    let link = Link(index: 2, addresses: [address])
    for (subnet, isOnLink) in [
      (high - 1, false), (high, true), (high + 3, true), (high + 4, false),
    ] {
      #expect(link.isOnLink(.v6(high: subnet, low: .max, scope: 2)) == isOnLink)
    }
  }

  @Test func `R62: two interfaces on one link report a service once and its removal once`() {
    var network = SimulatedNetwork()
    network.addNode(
      "a", [SimulatedNetwork.makeAttachment(0, 2, 1), SimulatedNetwork.makeAttachment(0, 3, 2)])
    network.addNode(3)
    let id = network.publish(1)
    network.browse(0)
    network.run(for: .seconds(700))
    #expect(network.changes(0) == ["+Maya's table"])
    network.with(1) { $0.withdraw(id, at: $1) }
    network.run(for: .seconds(3))
    #expect(network.changes(0) == ["+Maya's table", "-Maya's table"])
  }

  @Test func `R64: received names keep their bytes and are compared without ASCII case only`()
    throws
  {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.browse(0)
    let labels: [[UInt8]] = [
      Array("é".utf8), Array("e\u{301}".utf8), Array("\u{FEFF}x".utf8), Array("x".utf8),
      Array("xn--9ca".utf8), [0xFF, 0xFE], Array("É".utf8),
    ]
    for label in labels {
      let name = try Name(labels: [label] + SimulatedNetwork.type.name().labels)
      network.respond([Record(SimulatedNetwork.type.name(), .pointer(name), timeToLive: 4500)])
    }
    var found: [[UInt8]] = []
    for case .added(_, let service) in network.querierEvents(0) {
      found.append(service.name.labels[0])
    }
    #expect(found == labels)
    network.respond([SimulatedNetwork.makePointer("X"), SimulatedNetwork.makePointer("XN--9CA")])
    #expect(network.querierEvents(0).count == labels.count)
    network.respond([Record(Name("_AIRHOCKEY._TCP.Local"), .pointer("q.local"), timeToLive: 4500)])
    #expect(network.querierEvents(0).count == labels.count + 1)
  }

  @Test func `R76: unknown TXT keys are kept`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.browse(0)
    let text: TXTRecord = ["txtvers": "9", "seats": "1/2", "unheard-of": "x"]
    network.respond(
      [SimulatedNetwork.makePointer()], additionals: [SimulatedNetwork.makeText(text)])
    guard case .added(_, let service) = network.querierEvents(0).first else {
      Issue.record("no service was found")
      return
    }
    #expect(service.text?["txtvers"] == "9" && service.text?["seats"] == "1/2")
  }
}
