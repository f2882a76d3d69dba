import CaromCore
import CaromDNS
import CaromTransport
import Testing

@testable import CaromDiscovery

/// Tests of browsing and watching, over real sockets on loopback.
@Suite(.timeLimit(.minutes(1))) struct WatchingTests {
  @Test func `R78: browsing for a subtype finds services that have it, even if it is added later`()
    async throws
  {
    let type = try Loopback.makeType()
    try await withNetworkLoop { here in
      try await withNetworkLoop { there in
        var ranked = Loopback.browser(type, here, subtype: "_ranked").changes.makeAsyncIterator()
        try await Loopback.advertiser(Loopback.makeService(type), there).run { advertisement in
          try await advertisement.update(subtypes: ["_ranked"])
          guard case .added(let found) = try await ranked.next() else { return fail() }
          #expect(found.name == Loopback.makeService(type).name && found.type == type)
          try await advertisement.update(subtypes: [])
          var change = try await ranked.next()
          // The TXT record may arrive after the service was reported.
          while case .updated = change { change = try await ranked.next() }
          guard case .removed(let gone) = change else { return fail() }
          #expect(gone.id == found.id)
        }
      }
    }
  }

  @Test func `R79: the service types on the link are added and removed`() async throws {
    let type = try Loopback.makeType()
    try await withNetworkLoop { here in
      try await withNetworkLoop { there in
        let changes = ServiceTypeBrowser(interfaces: Loopback.selection, on: here).changes
        var ours: [DiscoveryChange<DiscoveredServiceType>] = []
        let task = Task {
          for try await change in changes where change.item.type == type {
            ours.append(change)
            if case .removed = change { break }
          }
          return ours
        }
        try await Loopback.advertiser(Loopback.makeService(type), there).run { _ in
          for try await change in Loopback.browser(type, here).changes {
            if case .added = change { break }
          }
        }
        let seen = try await task.value
        #expect(seen.first?.item.name == type.description && seen.count == 2)
      }
    }
  }

  @Test func `records of any type are watched`() async throws {
    let type = try Loopback.makeType()
    try await withNetworkLoop { here in
      try await withNetworkLoop { there in
        let service = Loopback.makeService(type, "X")
        var records = RecordQuery("X.\(type).local", .srv, interfaces: Loopback.selection, on: here)
          .changes.makeAsyncIterator()
        try await Loopback.advertiser(service, there).run { _ in
          guard case .added(let record) = try await records.next() else { return fail() }
          #expect(record.type == .srv && record.name == "X.\(type).local")
          #expect(Array(record.data.prefix(6)) == [0, 0, 0, 0, 30, 97])
        }
        guard case .removed(let gone) = try await records.next() else { return fail() }
        #expect(gone.type == .srv)
      }
    }
  }

  @Test func `a service that is known only by name is monitored and resolved`() async throws {
    let type = try Loopback.makeType()
    try await withNetworkLoop { here in
      try await withNetworkLoop { there in
        let known = ServiceResolver("X", type, interfaces: Loopback.selection, on: here)
        var strings = known.txtRecords.makeAsyncIterator()
        try await Loopback.advertiser(Loopback.makeService(type, "X"), there).run { ours in
          #expect(try await strings.next()?["seats"] == "1/2")
          try await ours.update(txt: ["seats": "2/2"])
          #expect(try await strings.next()?["seats"] == "2/2")
          #expect(try await known.resolve().endpoints == [Endpoint(.loopback4, port: 7777)])
        }
      }
    }
  }

  @Test func `a running service is renamed, and browsers report it`() async throws {
    let type = try Loopback.makeType()
    try await withNetworkLoop { here in
      try await withNetworkLoop { there in
        var changes = Loopback.browser(type, here).changes.makeAsyncIterator()
        try await Loopback.advertiser(Loopback.makeService(type, "X"), there).run { ours in
          guard case .added(let x) = try await changes.next() else { return fail() }
          try await ours.rename(to: "Y")
          var renames = ours.renames.makeAsyncIterator()
          #expect(try await renames.next() == "Y")
          var names: Set<String> = []
          while names.count < 2, let change = try await changes.next() {
            switch change {
            case .added(let service), .removed(let service): names.insert(service.name)
            case .updated: break
            }
          }
          #expect(names == ["X", "Y"] && x.name == "X")
          await #expect(throws: DiscoveryError.nameMissing) { try await ours.rename(to: "") }
        }
      }
    }
  }

  @Test func `R42: a service with a unique name is visible without probing`()
    async throws
  {
    let type = try Loopback.makeType()
    try await onLoop { loop in
      let core = try DiscoveryCore(on: loop, interfaces: Loopback.selection)
      let name = AdvertisedService.uniqueName(String(repeating: "é", count: 40))
      #expect(name.utf8.count <= 63)
      let service = AdvertisedService(name: name, type: type, port: 7777, isNameUnique: true)
      let start = loop.now
      let events = Events<(DiscoveryCore.AdvertisingEvent, Instant)>()
      try core.advertise(service) { events.add(($0, loop.now)) }
      let (event, moment) = await events.next()
      #expect(event == .established(name: name))
      // Probing takes at least 750 ms.
      #expect(moment - start < .milliseconds(700))
      core.close()
    }
  }

  @Test func `a batch has all changes that are queued at the moment`() async throws {
    let type = try Loopback.makeType()
    try await onLoop { loop in
      let core = try DiscoveryCore(on: loop, interfaces: Loopback.selection)
      let events = Events<DiscoveryCore.AdvertisingEvent>()
      for index in 0..<50 {
        let name = AdvertisedService.uniqueName("\(index)")
        try core.advertise(AdvertisedService(name: name, type: type, port: 1, isNameUnique: true)) {
          events.add($0)
        }
      }
      for _ in 0..<50 { _ = await events.next() }
      var seen = 0
      var batches = 0
      for try await batch in Loopback.browser(type, loop).batches {
        seen += batch.count
        batches += 1
        if seen == 50 { break }
      }
      #expect(batches < seen)
      core.close()
    }
  }

  @Test func `when the loop shuts down, watching, resolving and advertising throw closed`()
    async throws
  {
    let type = try Loopback.makeType()
    let loop = try NetworkLoop()
    var changes = Loopback.browser(type, loop).changes.makeAsyncIterator()
    let resolving = Task {
      try await ServiceResolver("nobody", type, interfaces: Loopback.selection, on: loop)
        .resolve(within: .seconds(3600))
    }
    let advertising = Task {
      try await Loopback.advertiser(Loopback.makeService(type), loop).run { advertisement in
        for try await _ in advertisement.renames {}
      }
    }
    let added = try await changes.next()
    #expect(added?.item.type == type)
    await loop.shutdown()
    await #expect(throws: DiscoveryError.closed) { while try await changes.next() != nil {} }
    await #expect(throws: DiscoveryError.closed) { try await resolving.value }
    await #expect(throws: DiscoveryError.closed) { try await advertising.value }
  }

  @Test func `after the loop has shut down, resolving throws closed`() async throws {
    let type = try Loopback.makeType()
    let loop = try NetworkLoop()
    let discovery = try DiscoveryActor.shared(on: loop, Loopback.selection)
    _ = try await discovery.browseTypes { _ in }
    await loop.shutdown()
    await #expect(throws: DiscoveryError.closed) {
      try await ServiceResolver("X", type, interfaces: Loopback.selection, on: loop).resolve()
    }
    withExtendedLifetime(discovery) {}
  }

  @Test func `closed discovery changes and resolves nothing`() async throws {
    let type = try Loopback.makeType()
    try await onLoop { loop in
      let core = try DiscoveryCore(on: loop, interfaces: Loopback.selection)
      let id = try core.advertise(Loopback.makeService(type)) { _ in }
      let instance = try type.name().prefixed(by: "X")
      core.close()
      #expect(throws: DiscoveryError.closed) { try core.update(id, txt: [:]) }
      #expect(throws: DiscoveryError.closed) { try core.update(id, subtypes: []) }
      #expect(throws: DiscoveryError.closed) { try core.rename(id, to: "Y") }
      #expect(throws: DiscoveryError.closed) {
        try core.resolve(instance, within: .seconds(5)) { _ in }
      }
    }
  }

  @Test func `watching an invalid name or domain throws`() async throws {
    let type = try Loopback.makeType()
    await withNetworkLoop { loop in
      await #expect(throws: DiscoveryError.domainNotLocal("example.com")) {
        try await loop.run {
          let core = try DiscoveryCore(on: loop, interfaces: Loopback.selection)
          try core.browse(type, domain: "example.com") { _ in }
        }
      }
      await #expect(throws: DiscoveryError.subtypeInvalid) {
        let long = String(repeating: "x", count: 64)
        for try await _ in Loopback.browser(type, loop, subtype: long).changes {}
      }
      await #expect(throws: DiscoveryError.nameInvalid) {
        for try await _ in RecordQuery("a..local", .a, interfaces: Loopback.selection, on: loop)
          .changes
        {}
      }
    }
  }
}
