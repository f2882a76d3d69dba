import CaromCore
import CaromDNS
import Testing

@Suite struct BrowseTargetTests {
  private func names(_ network: SimulatedNetwork) -> [String] {
    network.querierEvents(0).compactMap { event in
      switch event {
      case .nameAdded(_, let found): "+\(found.name)"
      case .nameRemoved(_, let found): "-\(found.name)"
      default: nil
      }
    }
  }

  @Test func `R78: a subtype may have any bytes, and its services keep their names`() throws {
    var network = SimulatedNetwork.makeWithOneNode()
    let label: [UInt8] = [0x2E, 0xFF, 0x20, 0x5C]
    network.browse(0, .subtype(label, of: SimulatedNetwork.type))
    network.run(for: .milliseconds(200))
    let name = try Name(labels: [label, Array("_sub".utf8)] + SimulatedNetwork.type.name().labels)
    #expect(network.questions(0, .ptr).map(\.question.key.name) == [name])
    network.respond([Record(name, .pointer(SimulatedNetwork.makeInstance("A.b")), timeToLive: 4500)]
    )
    #expect(network.changes(0) == ["+A.b"])
  }

  @Test func `R78: browsing for a subtype finds only services published under it`() {
    var network = SimulatedNetwork.makeWithOneNode()
    network.addNode(2)
    var ranked = SimulatedNetwork.makeService("ranked")
    ranked.subtypes = ["_ranked"]
    network.publish(1, ranked)
    network.publish(1, "other")
    network.browse(0, .subtype(Array("_ranked".utf8), of: SimulatedNetwork.type))
    network.run(for: .seconds(5))
    #expect(network.changes(0) == ["+ranked"])
  }

  @Test func `R79: each service type is reported once, and removed with its last service`() {
    var network = SimulatedNetwork.makeWithOneNode()
    network.addNode(2)
    network.browse(0, .types())
    network.run(for: .seconds(1))
    #expect(network.questions(0, .ptr).first?.question.key.name == "_services._dns-sd._udp.local")
    let id = network.publish(1)
    network.publish(1, "B")
    network.run(for: .seconds(3))
    #expect(names(network) == ["+_airhockey._tcp.local"])
    network.with(1) { $0.withdraw(id, at: $1) }
    network.run(for: .seconds(3))
    #expect(names(network) == ["+_airhockey._tcp.local"])
    network.with(1) { $0.withdrawAll(at: $1) }
    network.run(for: .seconds(3))
    #expect(names(network) == ["+_airhockey._tcp.local", "-_airhockey._tcp.local"])
  }

  @Test(arguments: BrowseTarget.DomainKind.allCases)
  func `R81: the five lists of domains are queried in local and in other domains`(
    kind: BrowseTarget.DomainKind
  ) throws {
    var network = SimulatedNetwork.makeWithOneNode()
    network.browse(0, .domains(kind))
    network.browse(0, .domains(kind, in: "example.org"))
    network.run(for: .milliseconds(200))
    let asked = network.questions(0, .ptr).map(\.question.key.name)
    let first = try Name(text: "\(kind.rawValue)._dns-sd._udp.local")
    #expect(asked == [first, try Name(text: "\(kind.rawValue)._dns-sd._udp.example.org")])
    network.respond([Record(first, .pointer("games.example.org"), timeToLive: 4500)])
    #expect(names(network) == ["+games.example.org"])
  }

  @Test func `R81: subnets have reverse names, but link-local and loopback ones do not`() {
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

  @Test func `R83: a PTR record may point outside its type or domain`() {
    var network = SimulatedNetwork.makeWithOneNode()
    network.browse(0)
    network.respond([
      Record(
        SimulatedNetwork.type.name(), .pointer("v1.0._airhockey._tcp.local"), timeToLive: 4500),
      Record(
        SimulatedNetwork.type.name(), .pointer("else._other._tcp.example.org"), timeToLive: 4500),
    ])
    #expect(network.changes(0) == ["+v1.0", "+else"])
    var found: [Name] = []
    for case .added(_, let service) in network.querierEvents(0) { found.append(service.name) }
    #expect(found == ["v1.0._airhockey._tcp.local", "else._other._tcp.example.org"])
  }

  @Test func `R11: link-local names are recognized in either case`() {
    for name: Name in [
      "local", "a.LOCAL", "x._http._tcp.local", "1.0.254.169.in-addr.arpa", "8.e.f.ip6.arpa",
      "0.9.E.F.ip6.arpa", "1.a.e.f.ip6.arpa", "2.b.e.f.ip6.arpa",
    ] { #expect(name.isLinkLocal) }
    for name: Name in [
      ".", "example.org", "local.example.org", "1.168.192.in-addr.arpa", "c.e.f.ip6.arpa",
      "169.in-addr.arpa", "notlocal",
    ] { #expect(!name.isLinkLocal) }
  }

  @Test func `a target that does not form a valid name throws an error`() {
    let long = [UInt8](repeating: 97, count: 64)
    #expect(throws: NameError.labelTooLong(64)) {
      try BrowseTarget.subtype(long, of: SimulatedNetwork.type).name()
    }
    #expect(throws: NameError.emptyLabel) {
      try BrowseTarget.subtype([], of: SimulatedNetwork.type).name()
    }
  }

  @Test func `at most 256 browses run at a time`() {
    var network = SimulatedNetwork.makeWithOneNode()
    var last: BrowseID?
    for index in 0..<Querier.browseLimit {
      last = network.with(0) {
        $0.browse(.named(SimulatedNetwork.makeInstance("\(index)")), at: $1)
      }
    }
    #expect(last != nil)
    #expect(network.browse(0, .types()) == nil)
    if let last { network.with(0) { machine, _ in machine.stopBrowsing(last) } }
    #expect(network.browse(0, .types()) != nil)
  }
}
