import CaromCore
import CaromDNS
import CaromTransport
import Synchronization
import TestClock
import Testing

@testable import CaromDiscovery

/// Tests of domains outside the link, which are queried at name servers.
@Suite struct UnicastServicesTests {
  private static let loopback = InterfaceSelection.named(["lo"])
  private static let type: ServiceType = "_game._tcp"
  private static let instance: Name = "Maya's match._game._tcp.example.com"

  private static let zone: [Record] = [
    Record("_game._tcp.example.com", .pointer(instance), timeToLive: 60),
    Record("_ranked._sub._game._tcp.example.com", .pointer(instance), timeToLive: 60),
    Record(
      instance, .service(priority: 0, weight: 0, port: 7777, target: "host.example.com"),
      timeToLive: 60),
    Record(instance, .text([3] + Array("a=b".utf8)), timeToLive: 60),
    Record("host.example.com", .address(.v4(0xC000_0201)), timeToLive: 60),
    Record(
      "host.example.com", .address(.v6(high: 0x2001_0DB8 << 32, low: 1, scope: 0)),
      timeToLive: 60),
    Record("b._dns-sd._udp.example.com", .pointer("games.example.com"), timeToLive: 60),
  ]

  private func withServer(_ body: (NetworkLoop) async throws -> Void) async throws {
    try await withNetworkLoop { loop in
      let server = UnicastNameServer(on: loop, zone: Self.zone)
      let endpoint = try await server.open()
      let discovery = try DiscoveryActor.shared(on: loop, Self.loopback)
      await discovery.use { UnicastConfiguration(servers: [endpoint], domains: ["example.com"]) }
      try await body(loop)
      withExtendedLifetime(discovery) {}
    }
  }

  @Test(arguments: [nil, "_ranked"])
  func `a service in a domain outside the link is found and resolved`(
    subtype: String?
  ) async throws {
    try await withServer { loop in
      let browser = ServiceBrowser(
        for: Self.type, subtype: subtype, domain: "example.com", interfaces: Self.loopback,
        on: loop)
      var changes = browser.changes.makeAsyncIterator()
      var found: DiscoveredService?
      while found?.txt["a"] != "b" { found = try #require(try await changes.next()).item }
      let service = try #require(found)
      #expect(service.name == "Maya's match" && service.interfaces.isEmpty)
      let resolved = try await service.resolve(within: .seconds(5))
      #expect(resolved.host == "host.example.com" && resolved.txt["a"] == "b")
      #expect(resolved.endpoints.map(\.description) == ["[2001:db8::1]:7777", "192.0.2.1:7777"])
    }
  }

  #if os(Linux)
    @Test(.timeLimit(.minutes(1)))
    func `the endpoints of a service outside the link follow the addresses of its host`()
      async throws
    {
      func zone(_ address: UInt32) -> [Record] {
        [
          // The query for the SRV record is repeated after 15 s, the shortest interval.
          Record(
            Self.instance,
            .service(priority: 0, weight: 0, port: 7777, target: "host.example.com"),
            timeToLive: 1),
          Record("host.example.com", .address(.v4(address)), timeToLive: 1),
        ]
      }
      try await withNetworkLoop { serverLoop in
        let server = UnicastNameServer(on: serverLoop, zone: zone(0xC000_0201))
        let endpoint = try await server.open()
        try await withNetworkLoop(name: "client") { loop in
          let discovery = try DiscoveryActor.shared(on: loop, Self.loopback)
          await discovery.use { UnicastConfiguration(servers: [endpoint]) }
          var resolutions = ServiceResolver(
            "maya's match", Self.type, domain: "example.com", interfaces: Self.loopback, on: loop
          ).resolutions.makeAsyncIterator()
          let first = try #require(try await resolutions.next())
          #expect(first.endpoints.map(\.description) == ["192.0.2.1:7777"])
          #expect(first.name == "Maya's match")
          await server.replaceZone(with: zone(0xC000_0202))
          try await Task(executorPreference: loop) {
            try await StoppedClock(of: loop).advance(by: .seconds(15))
          }.value
          let second = try #require(try await resolutions.next())
          #expect(second.endpoints.map(\.description) == ["192.0.2.2:7777"])
        }
      }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a name server is not asked for the text of a service that was removed`() async throws {
      let other: Name = "Leo's match._game._tcp.example.com"
      func zone(_ instances: [Name], _ text: String) -> [Record] {
        instances.flatMap { instance in
          [
            Record("_game._tcp.example.com", .pointer(instance), timeToLive: 1),
            Record(instance, .text([3] + Array(text.utf8)), timeToLive: 1),
          ]
        }
      }
      try await withNetworkLoop { serverLoop in
        let server = UnicastNameServer(on: serverLoop, zone: zone([Self.instance, other], "a=1"))
        let endpoint = try await server.open()
        try await withNetworkLoop(name: "client") { loop in
          let discovery = try DiscoveryActor.shared(on: loop, Self.loopback)
          await discovery.use { UnicastConfiguration(servers: [endpoint]) }
          var changes = ServiceBrowser(
            for: Self.type, domain: "example.com", interfaces: Self.loopback, on: loop
          ).changes.makeAsyncIterator()
          var texts: [String: String] = [:]
          while texts.count < 2 {
            let service = try #require(try await changes.next()).item
            texts[service.name] = service.txt["a"]
          }
          await server.replaceZone(with: zone([other], "a=2"))
          let count = await server.queries.count
          try await Task(executorPreference: loop) {
            try await StoppedClock(of: loop).advance(by: .seconds(15))
          }.value
          guard case .removed(let removed) = try await changes.next() else {
            return #expect(Bool(false), "the service is not removed")
          }
          #expect(removed.name == "Maya's match")
          // The change is reported once the texts of all services have been asked for.
          let changed = try #require(try await changes.next()).item
          #expect(changed.name == "Leo's match" && changed.txt["a"] == "2")
          let asked = await server.queries.dropFirst(count).filter { $0.key.type == .txt }
          #expect(asked.map(\.key.name) == [other])
        }
      }
    }
  #endif

  @Test(.timeLimit(.minutes(1)))
  func `R3: after the loop over recommended domains, the link is not asked any more`()
    async throws
  {
    try await withServer { loop in
      let discovery = try DiscoveryActor.shared(on: loop, Self.loopback)
      for try await _ in DomainBrowser(.browsing, interfaces: Self.loopback, on: loop).changes {
        #expect(await discovery.isWatching)
        break
      }
      while await discovery.isWatching { try await Task.sleep(for: .milliseconds(1)) }
    }
  }

  @Test func `R81: recommended domains are queried in the search domains`() async throws {
    try await withServer { loop in
      var changes = DomainBrowser(.browsing, interfaces: Self.loopback, on: loop).changes
        .makeAsyncIterator()
      let first = try #require(try await changes.next())
      guard case .added(let domain) = first else { return #expect(Bool(false), "\(first)") }
      #expect(domain.name == "games.example.com" && domain.interfaces.isEmpty)
    }
  }

  @Test func `records of a name outside the link are watched`() async throws {
    try await withServer { loop in
      let query = RecordQuery("host.example.com", .a, interfaces: Self.loopback, on: loop)
      var changes = query.changes.makeAsyncIterator()
      let found = try #require(try await changes.next()).item
      #expect(found.data == [192, 0, 2, 1] && found.interface == 0)
    }
  }

  @Test func `browsing outside the link without name servers throws noNameServer`() async throws {
    try await withNetworkLoop { loop in
      let discovery = try DiscoveryActor.shared(on: loop, Self.loopback)
      await discovery.use { UnicastConfiguration() }
      let browser = ServiceBrowser(
        for: Self.type, domain: "example.com", interfaces: Self.loopback, on: loop)
      await #expect(throws: DiscoveryError.noNameServer) {
        for try await _ in browser.changes {}
      }
    }
  }

  @Test func `a missing name throws notOffered, and watching ends when the loop shuts down`()
    async throws
  {
    try await withServer { loop in
      let resolver = ServiceResolver(
        "Leo", Self.type, domain: "example.com", interfaces: Self.loopback, on: loop)
      await #expect(throws: DiscoveryError.notOffered) { try await resolver.resolve() }
      let query = RecordQuery("host.example.com", .a, interfaces: Self.loopback, on: loop)
      var changes = query.changes.makeAsyncIterator()
      _ = try await changes.next()
      await loop.shutdown()
      await #expect(throws: DiscoveryError.closed) { while try await changes.next() != nil {} }
    }
  }

  @Test func `of several TXT records, the newest that remains is reported`() {
    let records = ["a=1", "a=2"].map { text in
      Record(Self.instance, .text([3] + Array(text.utf8)), timeToLive: 60)
    }
    var collector = TextCollector()
    let both = collector.apply(records.map { .added($0) })
    #expect(both && collector.text == ["a": "2"])
    let one = collector.apply([.removed(records[1])])
    #expect(one && collector.text == ["a": "1"])
    let other = collector.apply([.added(records[1])])
    #expect(other && collector.text == ["a": "2"])
    let same = collector.apply([.removed(records[0])])
    #expect(!same && collector.text == ["a": "2"])
    let none = collector.apply(records.map { .removed($0) })
    #expect(none && collector.text == nil)
  }

  @Test func `a domain that the link and name servers recommend is reported once, then as updated`()
  {
    let reported = ReportedChanges()
    let collector = DomainCollector { reported.add($0) }
    let record = Record("b._dns-sd._udp.x.example", .pointer("a.example"), timeToLive: 60)
    let onLink = DiscoveredDomain(FoundName("A.example", on: [2]))
    collector.apply([.added(record)], from: "x.example")
    collector.apply([.added(record)], from: "y.example")
    collector.apply(.added(onLink))
    collector.apply([.removed(record)], from: "x.example")
    collector.apply(.removed(onLink))
    collector.apply([.removed(record)], from: "y.example")
    collector.apply([.removed(record)], from: "y.example")
    #expect(reported.texts == ["added []", "updated [2]", "updated []", "removed []"])
  }
}

extension DiscoveryActor {
  /// Whether any query is sent on the link.
  fileprivate var isWatching: Bool { core?.watching.isEmpty == false }
}

/// The changes that a collector has reported, as text.
private final class ReportedChanges: Sendable {
  private let state = Mutex<[String]>([])

  var texts: [String] { state.withLock { $0 } }

  func add(_ change: DiscoveryChange<DiscoveredDomain>) {
    let text =
      switch change {
      case .added(let domain): "added \(domain.interfaces)"
      case .updated(let domain): "updated \(domain.interfaces)"
      case .removed(let domain): "removed \(domain.interfaces)"
      }
    state.withLock { $0.append(text) }
  }
}
