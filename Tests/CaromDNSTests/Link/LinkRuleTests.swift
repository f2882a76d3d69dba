import CaromCore
import CaromDNS
import Testing

/// Several links, links that come and go, and names as they are on the wire.
@Suite struct LinkRuleTests {
  private func makeTwoLinks() -> Hub {
    var hub = Hub()
    hub.addNode("a", [Hub.makeAttachment(0, 2, 1), Hub.makeAttachment(1, 3, 1)])
    return hub
  }

  private func say(_ hub: inout Hub, _ answers: [Record], on segment: Int) {
    var message = Message(isResponse: true)
    message.answers = answers
    let source = Endpoint(.v4(0x0A00_0009 | UInt32(segment) << 8), port: 5353)
    hub.inject(message.encoded(), from: source, on: segment)
    hub.run(for: .milliseconds(1))
  }

  @Test func `R46: a link that comes up is asked anew, at 1, 2, 4 seconds; the others are not`() {
    var hub = makeTwoLinks()
    var places = hub.nodes[0].attachments
    hub.browse(0)
    hub.run(for: .seconds(100))
    hub.setLinks(0, [places[0]])
    hub.run(for: .milliseconds(100))
    hub.log = []
    places[1].link.receivesUnicast = true
    hub.setLinks(0, places)
    hub.run(for: .seconds(10))
    #expect(hub.log.map(\.outgoing.interface) == [3, 3, 3, 3])
    #expect(
      hub.log.map { $0.message.questions[0].wantsUnicast } == [true, false, false, false])
    #expect(hub.log[0].at >= hub.log[1].at.advanced(by: .milliseconds(-1000)))
  }

  @Test func `R46: new addresses are a new link; another MTU or unicast socket is not`() {
    var hub = makeTwoLinks()
    var places = hub.nodes[0].attachments
    hub.browse(0)
    hub.run(for: .seconds(100))
    hub.log = []
    places[0].link.receivesUnicast = true
    places[0].link.mtu = 1280
    hub.setLinks(0, places)
    hub.run(for: .seconds(20))
    #expect(hub.log.isEmpty)
    places[0] = Hub.makeAttachment(0, 2, 77)
    hub.setLinks(0, places)
    hub.run(for: .milliseconds(200))
    #expect(hub.log.map(\.outgoing.interface) == [2])
  }

  @Test func `R46: after a sleep everything is asked again`() {
    var hub = makeTwoLinks()
    hub.browse(0)
    hub.run(for: .seconds(100))
    hub.log = []
    hub.with(0) { $0.restartQuestions(on: nil, at: $1) }
    hub.run(for: .milliseconds(200))
    #expect(hub.log.map(\.outgoing.interface) == [2, 3])
  }

  @Test(arguments: [false, true])
  func `R46: what nobody repeats after a sleep or a cable is gone in ten seconds, all else stays`(
    isCable: Bool
  ) {
    var hub = Hub()
    hub.addNode(1)
    hub.addNode(2)
    hub.publish(1)
    hub.browse(0)
    hub.say([Hub.makePointer("left behind")])
    hub.run(for: .seconds(100))
    let start = hub.now
    if isCable {
      var places = hub.nodes[0].attachments
      places[0].link.epoch += 1
      hub.setLinks(0, places)
    } else {
      hub.with(0) { $0.restartQuestions(on: nil, at: $1) }
    }
    hub.run(for: .seconds(60))
    #expect(hub.changes(0) == ["+left behind", "+Maya's table", "-left behind"])
    #expect(hub.nodes[0].events.last.map { $0.at - start == .seconds(10) } == true)
  }

  @Test func `R56: what was heard on a link goes with it at once`() {
    var hub = makeTwoLinks()
    let places = hub.nodes[0].attachments
    hub.browse(0)
    say(&hub, [Hub.makePointer()], on: 0)
    say(&hub, [Hub.makePointer(), Hub.makePointer("B")], on: 1)
    hub.setLinks(0, [places[0]])
    #expect(hub.changes(0) == ["+Maya's table", "+B", "-B"])
    hub.setLinks(0, [])
    #expect(hub.changes(0) == ["+Maya's table", "+B", "-B", "-Maya's table"])
    #expect(hub.nodes[0].machine.cachedRecords(Hub.type.name(), .ptr, at: hub.now).isEmpty)
  }

  @Test func `R61: a service on two links is found once, with both, and stays while one does`() {
    var hub = makeTwoLinks()
    let places = hub.nodes[0].attachments
    let other = hub.addNode("b", [Hub.makeAttachment(0, 2, 2), Hub.makeAttachment(1, 3, 2)])
    hub.publish(other)
    hub.browse(0)
    hub.run(for: .seconds(10))
    hub.setLinks(0, [places[0]])
    hub.run(for: .seconds(10))
    #expect(hub.changes(0) == ["+Maya's table"])
    hub.setLinks(0, [])
    #expect(hub.changes(0) == ["+Maya's table", "-Maya's table"])
  }

  @Test func `R61: all addresses of a host come from all links, link-local ones with their scope`()
    throws
  {
    var hub = Hub()
    hub.addNode("a", [0, 1].map { Hub.makeAttachment($0, UInt32(2 + $0), 1, dualStack: true) })
    let other = hub.addNode(
      "b", [0, 1].map { Hub.makeAttachment($0, UInt32(2 + $0), 2, dualStack: true) })
    hub.publish(other)
    hub.run(for: .seconds(5))
    _ = hub.resolve(0)
    let resolution = try #require(hub.resolutions(0).first ?? nil)
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

  @Test func `R61: the same name on two links is two services; their addresses are not mixed`()
    throws
  {
    var hub = makeTwoLinks()
    hub.browse(0)
    let all = { (host: UInt8, port: UInt16) in
      [
        Hub.makePointer(), Hub.makeServer(port: port), Hub.makeText([:]), Hub.makeAddress(host),
      ]
    }
    say(&hub, all(8, 1), on: 0)
    say(&hub, all(9, 2), on: 1)
    #expect(hub.changes(0) == ["+Maya's table"])
    _ = hub.resolve(0)
    let resolution = try #require(hub.resolutions(0).first ?? nil)
    #expect(resolution.endpoints == [Endpoint(.v4(0x0A00_0008), port: 1)])
  }

  @Test func `R62: two interfaces on one link find a service once and agree when it goes`() {
    var hub = Hub()
    hub.addNode("a", [Hub.makeAttachment(0, 2, 1), Hub.makeAttachment(0, 3, 2)])
    hub.addNode(3)
    let id = hub.publish(1)
    hub.browse(0)
    hub.run(for: .seconds(700))
    #expect(hub.changes(0) == ["+Maya's table"])
    hub.with(1) { $0.withdraw(id, at: $1) }
    hub.run(for: .seconds(3))
    #expect(hub.changes(0) == ["+Maya's table", "-Maya's table"])
  }

  @Test func `R64: names are bytes: no case, form or mark is changed but ASCII compared without`()
    throws
  {
    var hub = Hub()
    hub.addNode(1)
    hub.browse(0)
    let labels: [[UInt8]] = [
      Array("é".utf8), Array("e\u{301}".utf8), Array("\u{FEFF}x".utf8), Array("x".utf8),
      Array("xn--9ca".utf8), [0xFF, 0xFE], Array("É".utf8),
    ]
    for label in labels {
      let name = try Name(labels: [label] + Hub.type.name().labels)
      hub.say([Record(Hub.type.name(), .pointer(name), timeToLive: 4500)])
    }
    var found: [[UInt8]] = []
    for case .added(_, let service) in hub.told(0) { found.append(service.name.labels[0]) }
    #expect(found == labels)
    hub.say([Hub.makePointer("X"), Hub.makePointer("XN--9CA")])
    #expect(hub.told(0).count == labels.count)
    hub.say([Record(Name("_AIRHOCKEY._TCP.Local"), .pointer("q.local"), timeToLive: 4500)])
    #expect(hub.told(0).count == labels.count + 1)
  }

  @Test func `R76: keys that nobody knows are kept, and cost nothing`() {
    var hub = Hub()
    hub.addNode(1)
    hub.browse(0)
    let text: TXTRecord = ["txtvers": "9", "seats": "1/2", "unheard-of": "x"]
    hub.say([Hub.makePointer()], additionals: [Hub.makeText(text)])
    guard case .added(_, let service) = hub.told(0).first else {
      Issue.record("nothing was found")
      return
    }
    #expect(service.text?["txtvers"] == "9" && service.text?["seats"] == "1/2")
  }
}
