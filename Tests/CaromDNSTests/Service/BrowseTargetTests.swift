import CaromCore
import CaromDNS
import Testing

@Suite struct BrowseTargetTests {
  private func makeHub() -> Hub {
    var hub = Hub()
    hub.addNode(1)
    return hub
  }

  private func names(_ hub: Hub) -> [String] {
    hub.told(0).compactMap { event in
      switch event {
      case .nameAdded(_, let found): "+\(found.name)"
      case .nameRemoved(_, let found): "-\(found.name)"
      default: nil
      }
    }
  }

  @Test func `R78: a subtype of any bytes is asked for, and its services keep their names`() throws
  {
    var hub = makeHub()
    let label: [UInt8] = [0x2E, 0xFF, 0x20, 0x5C]
    hub.browse(0, .subtype(label, of: Hub.type))
    hub.run(for: .milliseconds(200))
    let name = try Name(labels: [label, Array("_sub".utf8)] + Hub.type.name().labels)
    #expect(hub.questions(0, .ptr).map(\.question.key.name) == [name])
    hub.say([Record(name, .pointer(Hub.makeInstance("A.b")), timeToLive: 4500)])
    #expect(hub.changes(0) == ["+A.b"])
  }

  @Test func `R78: who browses a subtype finds only what was published under it`() {
    var hub = makeHub()
    hub.addNode(2)
    var ranked = Hub.makeService("ranked")
    ranked.subtypes = ["_ranked"]
    hub.publish(1, ranked)
    hub.publish(1, "other")
    hub.browse(0, .subtype(Array("_ranked".utf8), of: Hub.type))
    hub.run(for: .seconds(5))
    #expect(hub.changes(0) == ["+ranked"])
  }

  @Test func `R79: the types on the link are listed, each once, and taken back`() {
    var hub = makeHub()
    hub.addNode(2)
    hub.browse(0, .types())
    hub.run(for: .seconds(1))
    #expect(hub.questions(0, .ptr).first?.question.key.name == "_services._dns-sd._udp.local")
    let id = hub.publish(1)
    hub.publish(1, "B")
    hub.run(for: .seconds(3))
    #expect(names(hub) == ["+_airhockey._tcp.local"])
    hub.with(1) { $0.withdraw(id, at: $1) }
    hub.run(for: .seconds(3))
    #expect(names(hub) == ["+_airhockey._tcp.local"])
    hub.with(1) { $0.withdrawAll(at: $1) }
    hub.run(for: .seconds(3))
    #expect(names(hub) == ["+_airhockey._tcp.local", "-_airhockey._tcp.local"])
  }

  @Test(arguments: BrowseTarget.DomainKind.allCases)
  func `R81: the five lists of domains are asked for, in local and elsewhere`(
    kind: BrowseTarget.DomainKind
  ) throws {
    var hub = makeHub()
    hub.browse(0, .domains(kind))
    hub.browse(0, .domains(kind, in: "example.org"))
    hub.run(for: .milliseconds(200))
    let asked = hub.questions(0, .ptr).map(\.question.key.name)
    let first = try Name(text: "\(kind.rawValue)._dns-sd._udp.local")
    #expect(asked == [first, try Name(text: "\(kind.rawValue)._dns-sd._udp.example.org")])
    hub.say([Record(first, .pointer("games.example.org"), timeToLive: 4500)])
    #expect(names(hub) == ["+games.example.org"])
  }

  @Test func `R81: a subnet's reverse name is asked, but not a link-local one's`() {
    let reverse = { (address: IPAddress, length: Int) in
      Link.Address(address, prefixLength: length).reverseDomain?.description
    }
    #expect(reverse(.v4(0xC0A8_0117), 24) == "0.1.168.192.in-addr.arpa")
    #expect(reverse(.v4(0x0A01_FF17), 12) == "0.0.0.10.in-addr.arpa")
    #expect(reverse(.v4(0xA9FE_0001), 16) == nil)
    #expect(reverse(.loopback4, 8) == nil)
    let zeros = String(repeating: "0.", count: 16)
    #expect(
      reverse(.v6(high: 0x2001_0DB8_0000_00AB, low: 1, scope: 0), 64)
        == zeros + "b.a.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa")
    #expect(reverse(.v6(high: 0xFE80 << 48, low: 1, scope: 0), 64) == nil)
  }

  @Test func `R83: a PTR that points outside its type or domain is taken as it is`() {
    var hub = makeHub()
    hub.browse(0)
    hub.say([
      Record(Hub.type.name(), .pointer("v1.0._airhockey._tcp.local"), timeToLive: 4500),
      Record(Hub.type.name(), .pointer("else._other._tcp.example.org"), timeToLive: 4500),
    ])
    #expect(hub.changes(0) == ["+v1.0", "+else"])
    var found: [Name] = []
    for case .added(_, let service) in hub.told(0) { found.append(service.name) }
    #expect(found == ["v1.0._airhockey._tcp.local", "else._other._tcp.example.org"])
  }

  @Test func `R11: names that go to multicast only are known, in either case`() {
    for name: Name in [
      "local", "a.LOCAL", "x._http._tcp.local", "1.0.254.169.in-addr.arpa", "8.e.f.ip6.arpa",
      "0.9.E.F.ip6.arpa", "1.a.e.f.ip6.arpa", "2.b.e.f.ip6.arpa",
    ] { #expect(name.isLinkLocal) }
    for name: Name in [
      ".", "example.org", "local.example.org", "1.168.192.in-addr.arpa", "c.e.f.ip6.arpa",
      "169.in-addr.arpa", "notlocal",
    ] { #expect(!name.isLinkLocal) }
  }

  @Test func `a target that fits no name says so`() {
    let long = [UInt8](repeating: 97, count: 64)
    #expect(throws: NameError.labelTooLong(64)) {
      try BrowseTarget.subtype(long, of: Hub.type).name()
    }
    #expect(throws: NameError.emptyLabel) { try BrowseTarget.subtype([], of: Hub.type).name() }
  }

  @Test func `no more than 256 browsings run at a time`() {
    var hub = makeHub()
    var last: BrowseID?
    for index in 0..<Querier.browseLimit {
      last = hub.with(0) { $0.browse(.named(Hub.makeInstance("\(index)")), at: $1) }
    }
    #expect(last != nil)
    #expect(hub.browse(0, .types()) == nil)
    if let last { hub.with(0) { machine, _ in machine.stopBrowsing(last) } }
    #expect(hub.browse(0, .types()) != nil)
  }
}
