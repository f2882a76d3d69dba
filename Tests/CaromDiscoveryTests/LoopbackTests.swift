import CaromCore
import CaromDNS
import CaromDiscovery
import CaromTransport
import Testing

/// End-to-end tests over real sockets on loopback. Each test uses a service type of its own, so
/// that other programs on this machine do not interfere.
@Suite struct LoopbackTests {
  private static let loopback = InterfaceSelection.named([
    ((try? Interfaces.list()) ?? []).first { $0.isLoopback }?.name ?? "lo"
  ])

  private func makeType() throws -> ServiceType {
    try ServiceType(name: "t\(UInt32.random(in: 0 ... .max))", transport: .tcp)
  }

  private func makeService(_ type: ServiceType, _ name: String = "L’été v1.5 \\ 🏒")
    -> AdvertisedService
  {
    AdvertisedService(name: name, type: type, port: 7777, txt: ["seats": "1/2"])
  }

  private func advertiser(_ service: AdvertisedService, _ loop: NetworkLoop) -> ServiceAdvertiser {
    ServiceAdvertiser(service, interfaces: Self.loopback, on: loop)
  }

  private func browser(_ type: ServiceType, _ loop: NetworkLoop) -> ServiceBrowser {
    ServiceBrowser(for: type, interfaces: Self.loopback, on: loop)
  }

  @Test func `a service is found, resolved, updated and removed`() async throws {
    let type = try makeType()
    let service = makeService(type)
    try await withNetworkLoop { here in
      try await withNetworkLoop { there in
        var changes = browser(type, here).changes.makeAsyncIterator()
        try await advertiser(service, there).run { advertisement in
          #expect(advertisement.name == service.name)
          let added = try #require(try await changes.next())
          guard case .added(let found) = added else { return #expect(Bool(false), "\(added)") }
          #expect(found.name == service.name && found.type == type)
          #expect(found.txt == ["seats": "1/2"])
          let resolved = try await found.resolve(within: .seconds(5))
          #expect(resolved.endpoints == [Endpoint(.loopback4, port: 7777)])
          #expect(resolved.txt["seats"] == "1/2")
          try await advertisement.update(txt: ["seats": "2/2"])
          let updated = try #require(try await changes.next())
          guard case .updated(let full) = updated else { return #expect(Bool(false), "\(updated)") }
          #expect(full.txt["seats"] == "2/2")
        }
        let removed = try #require(try await changes.next())
        guard case .removed(let gone) = removed else { return #expect(Bool(false), "\(removed)") }
        #expect(gone.name == service.name)
      }
    }
  }

  @Test func `the second service with the name "X" becomes "X (2)", even on the same host`()
    async throws
  {
    let type = try makeType()
    try await withNetworkLoop { here in
      try await withNetworkLoop { there in
        try await advertiser(makeService(type, "X"), here).run { first in
          var second = makeService(type, "X")
          second.port = 8888
          try await advertiser(second, there).run { advertisement in
            #expect(first.name == "X")
            #expect(advertisement.name == "X (2)")
          }
          second.renamesOnConflict = false
          await #expect(throws: DiscoveryError.nameTaken) {
            try await advertiser(second, there).run { _ in }
          }
        }
      }
    }
  }

  @Test func `an advertiser whose task is cancelled sends a goodbye`() async throws {
    let type = try makeType()
    try await withNetworkLoop { here in
      try await withNetworkLoop { there in
        var changes = browser(type, here).changes.makeAsyncIterator()
        let service = makeService(type)
        let scope = advertiser(service, there)
        let task = Task {
          try await scope.run { _ in
            for await _ in AsyncStream<Never>.makeStream().stream {}
          }
        }
        guard case .added = try await changes.next() else { return #expect(Bool(false)) }
        task.cancel()
        _ = await task.result
        guard case .removed = try await changes.next() else { return #expect(Bool(false)) }
      }
    }
  }

  @Test func `closing discovery sends goodbyes for all of its services, RFC 6762 §10.1`()
    async throws
  {
    let type = try makeType()
    try await withNetworkLoop { loop in
      let lost = try await ClosingDiscovery(on: loop).run(type, Self.loopback)
      #expect(lost == ["X", "Y", "Z"])
    }
  }

  @Test func `eight cores on one loop find each other`() async throws {
    let type = try makeType()
    try await withNetworkLoop { loop in
      let gathering = Gathering(on: loop, type, Self.loopback, count: 8)
      let seen = try await gathering.run()
      #expect(seen == (0..<8).map { _ in (0..<8).map { "service \($0)" } })
      await gathering.close()
    }
  }

  @Test func `resolving throws timedOut without an answer and cancelled after cancellation`()
    async throws
  {
    let type = try makeType()
    try await withNetworkLoop { here in
      try await withNetworkLoop { there in
        var changes = browser(type, here).changes.makeAsyncIterator()
        try await advertiser(makeService(type), there).run { _ in
          _ = try await changes.next()
        }
        guard case .removed(let gone) = try await changes.next() else { return }
        await #expect(throws: DiscoveryError.timedOut) {
          try await gone.resolve(within: .milliseconds(50))
        }
        let task = Task {
          try await gone.resolve(within: .seconds(60))
        }
        task.cancel()
        await #expect(throws: DiscoveryError.cancelled) { try await task.value }
      }
    }
  }

  @Test func `a service without a name is given the host's name`() async throws {
    let type = try makeType()
    try await withNetworkLoop { loop in
      try await advertiser(makeService(type, ""), loop).run { advertisement in
        let host = HostLabel.systemName(from: HostName.current)
        #expect(advertisement.name.hasPrefix(host) && !host.isEmpty)
      }
    }
  }

  @Test func `a service that cannot be advertised throws at once`() async throws {
    let type = try makeType()
    await withNetworkLoop { loop in
      let long = String(repeating: "é", count: 32)
      for (name, error) in [
        (long, .nameTooLong(64)), ("a\u{7}", .nameInvalid),
      ] as [(String, DiscoveryError)] {
        await #expect(throws: error) {
          try await advertiser(makeService(type, name), loop).run { _ in }
        }
      }
      var service = makeService(type)
      service.port = 0
      await #expect(throws: DiscoveryError.portMissing) {
        try await advertiser(service, loop).run { _ in }
      }
      let nowhere = InterfaceSelection.named(["nowhere0"])
      await #expect(throws: DiscoveryError.noSuchInterface("nowhere0")) {
        for try await _ in ServiceBrowser(for: type, interfaces: nowhere, on: loop).changes {}
      }
    }
  }
}

/// Closes a `DiscoveryCore` that advertises services while another one browses.
private actor ClosingDiscovery: LoopActor {
  nonisolated let loop: NetworkLoop
  private let changes = Events<ServiceChange?>()

  init(on loop: NetworkLoop) { self.loop = loop }

  /// The names of the services "X", "Y" and "Z" that the browser has lost.
  func run(_ type: ServiceType, _ interfaces: InterfaceSelection) async throws -> [String] {
    let (host, browser) = (
      try DiscoveryCore(on: loop, interfaces: interfaces),
      try DiscoveryCore(on: loop, interfaces: interfaces)
    )
    let changes = changes
    try browser.browse(type) { changes.add($0) }
    for name in ["X", "Y", "Z"] {
      try host.advertise(AdvertisedService(name: name, type: type, port: 1)) { _ in }
    }
    for _ in 0..<3 { _ = await changes.next { if case .added = $0 { true } else { false } } }
    host.close()
    // Without goodbyes the records live for 75 minutes (RFC 6762 §10).
    let alarm = LoopTimer(on: loop) { changes.add(nil) }
    alarm.arm(after: .seconds(10))
    var lost: [String] = []
    while lost.count < 3, let change = await changes.next() {
      if case .removed(let service) = change { lost.append(service.name) }
    }
    browser.close()
    return lost.sorted()
  }
}
