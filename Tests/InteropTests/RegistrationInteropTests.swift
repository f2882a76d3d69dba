import CaromCore
import CaromCrypto
import CaromDNS
import CaromDiscovery
import CaromTransport
import Foundation
import Testing

extension Peers {
  static let bind =
    has("named") && has("tsig-keygen") && has("dig") && runs([python, "-c", "import dns"])
  static let bindIsNeeded: Comment =
    "needs bind9, bind9-dnsutils and python3-dnspython: .ci/setup test"
}

/// Services in a zone of BIND, read by dig and by dnspython.
@Suite(.timeLimit(.minutes(3)), .enabled(if: Peers.bind, Peers.bindIsNeeded))
struct RegistrationInteropTests {
  private static let type: ServiceType = "_game._udp"
  private static let loopback = InterfaceSelection.named(["lo"])

  private func key(_ server: NameServer) throws -> UpdateKey {
    let text = try Data(contentsOf: URL(fileURLWithPath: server.keyFile))
    return try UpdateKey(parsing: Array(text), authenticator: HMACSHA256.authenticator)
  }

  private func domain(
    _ server: NameServer, lease: Duration = RegistrationDomain.defaultLease
  ) throws -> RegistrationDomain {
    RegistrationDomain(
      NameServer.domain, key: try key(server), server: server.endpoint, lease: lease)
  }

  private func advertiser(
    _ name: String, in domain: RegistrationDomain, on loop: NetworkLoop,
    subtypes: [String] = [], renames: Bool = true
  ) -> ServiceAdvertiser {
    let service = AdvertisedService(
      name: name, type: Self.type, port: 7777, txt: ["seats": "1/2"], subtypes: subtypes,
      renamesOnConflict: renames)
    return ServiceAdvertiser(service, in: domain, interfaces: Self.loopback, on: loop)
  }

  @Test func `R84: a service is registered, changed, renamed and removed`() async throws {
    try await NameServer.with { server in
      let before = try await server.zone()
      try await withNetworkLoop { loop in
        let ours = advertiser(
          "Ann's café. 1", in: try domain(server), on: loop, subtypes: ["_ranked"])
        try await ours.run { advertisement in
          #expect(advertisement.name == "Ann's café. 1")
          let instance = "Ann's\\032caf\\195\\169\\.\\0321._game._udp.play.example."
          let found = try await server.dig("_game._udp.play.example", "PTR")
          #expect(found == [instance])
          let ranked = try await server.dig("_ranked._sub._game._udp.play.example", "PTR")
          #expect(ranked == [instance])
          #expect(
            try await server.dig("_services._dns-sd._udp.play.example", "PTR")
              == ["_game._udp.play.example."])
          #expect(try await server.dig(instance, "TXT") == ["\"seats=1/2\""])
          let offer = try #require(try await server.dig(instance, "SRV").first)
          #expect(offer.hasPrefix("0 0 7777 ") && offer.hasSuffix(".play.example."))
          let host = try #require(offer.split(separator: " ").last)
          #expect(try await server.dig(String(host), "A") == ["127.0.0.1"])
          try await checkChanges(advertisement, server)
        }
      }
      let after = try await server.zone()
      #expect(after.sorted() == before.sorted(), "\(after)")
    }
  }

  private func checkChanges(
    _ advertisement: Advertisement, _ server: NameServer
  ) async throws {
    try await advertisement.update(txt: ["seats": "2/2"])
    try await advertisement.update(subtypes: ["_open"])
    try await advertisement.rename(to: "Anna")
    var names = advertisement.renames.makeAsyncIterator()
    #expect(try await names.next() == "Anna")
    let zone = try await server.zone()
    #expect(zone.contains("Anna._game._udp TXT 60 \"seats=2/2\""))
    #expect(zone.contains("_game._udp PTR 60 Anna._game._udp"))
    #expect(zone.contains("_open._sub._game._udp PTR 60 Anna._game._udp"))
    #expect(!zone.contains { $0.contains("caf") || $0.contains("_ranked") })
    #expect(zone.contains { $0.hasPrefix("_lease.Anna._game._udp TXT 60 \"expires=") })
  }

  /// Polls until an event of `request` arrives, and returns it.
  private func frames(
    _ poller: DiscoveryPoller, until request: DiscoveryPoller.Request
  ) async throws -> DiscoveryPoller.Event {
    while true {
      while let event = poller.poll() {
        if event.request == request { return event }
      }
      try await Task.sleep(for: .milliseconds(1))  // a fast frame
    }
  }

  @Test func `R84: a poller registers a service, changes it, and removes it when it closes`()
    async throws
  {
    try await NameServer.with { server in
      let before = try await server.zone()
      try await withNetworkLoop { loop in
        let poller = try DiscoveryPoller(interfaces: Self.loopback, on: loop)
        let service = AdvertisedService(
          name: "Ann", type: Self.type, port: 7777, txt: ["seats": "1/2"])
        let domain = try domain(server)
        let ann = poller.advertise(service, in: domain)
        // Changes wait until the service is registered.
        poller.update(ann, txt: ["seats": "2/2"])
        poller.update(ann, subtypes: ["_open"])
        poller.rename(ann, to: "Anna")
        let names = try await [frames(poller, until: ann), frames(poller, until: ann)]
        #expect(names == [.advertised(ann, name: "Ann"), .advertised(ann, name: "Anna")])
        let zone = try await server.zone()
        #expect(zone.contains("Anna._game._udp TXT 60 \"seats=2/2\""))
        #expect(zone.contains("_open._sub._game._udp PTR 60 Anna._game._udp"))
        let second = poller.advertise(service, in: domain)
        let taken = try await frames(poller, until: second)
        #expect(taken == .advertised(second, name: "Ann"))
        poller.cancel(second)
        poller.rename(ann, to: "\u{7}")
        #expect(try await frames(poller, until: ann) == .updateFailed(ann, .nameInvalid))
        poller.close()
        #expect(try await server.zone().sorted() == before.sorted())
      }
    }
  }

  @Test func `R84: a poller reports that a service cannot be registered`() async throws {
    try await NameServer.with { server in
      try await withNetworkLoop { loop in
        let text = "key game-key { algorithm hmac-sha256; secret \"AAAAAAAAAAAAAAAAAAAAAA==\"; };"
        let wrong = RegistrationDomain(
          NameServer.domain,
          key: try UpdateKey(parsing: Array(text.utf8), authenticator: HMACSHA256.authenticator),
          server: server.endpoint)
        let poller = try DiscoveryPoller(interfaces: Self.loopback, on: loop)
        let service = AdvertisedService(name: "Ann", type: Self.type, port: 7777)
        let ann = poller.advertise(service, in: wrong)
        #expect(try await frames(poller, until: ann) == .failed(ann, .keyRejected))
        let invalid = AdvertisedService(name: "\u{7}", type: Self.type, port: 7777)
        let request = poller.advertise(invalid, in: wrong)
        #expect(try await frames(poller, until: request) == .failed(request, .nameInvalid))
        poller.close()
      }
    }
  }

  @Test func `R84: a taken name is a conflict`() async throws {
    try await NameServer.with { server in
      try await withNetworkLoop { loop in
        let domain = try domain(server)
        try await advertiser("Ann", in: domain, on: loop).run { first in
          try await advertiser("Ann", in: domain, on: loop).run { second in
            #expect([first.name, second.name] == ["Ann", "Ann (2)"])
          }
          await #expect(throws: DiscoveryError.nameTaken) {
            try await advertiser("Ann", in: domain, on: loop, renames: false).run { _ in }
          }
          let zone = try await server.zone()
          #expect(zone.filter { $0.hasPrefix("_game._udp PTR") }.count == 1)
        }
      }
    }
  }

  @Test func `R84: a wrong key, an unknown key and a wrong clock are typed errors`() async throws {
    try await NameServer.with { server in
      try await withNetworkLoop { loop in
        for name in ["game-key", "other-key"] {
          let text = "key \(name) { algorithm hmac-sha256; secret \"AAAAAAAAAAAAAAAAAAAAAA==\"; };"
          let wrong = RegistrationDomain(
            NameServer.domain,
            key: try UpdateKey(parsing: Array(text.utf8), authenticator: HMACSHA256.authenticator),
            server: server.endpoint)
          await #expect(throws: DiscoveryError.keyRejected) {
            try await advertiser("Ann", in: wrong, on: loop).run { _ in }
          }
        }
        for offset in [-400, 400] as [Int64] {
          let client = UnicastClient(on: loop)
          let key = try key(server).key
          await client.use { UInt64(WallClock.milliseconds / 1000 + offset) }
          do throws(UnicastError) {
            _ = try await client.update(
              DynamicUpdate(zone: "play.example"), signedWith: key, at: [server.endpoint])
            Issue.record("the server accepted a wrong clock")
          } catch {
            guard case .clocksDiffer(let seconds) = error else {
              Issue.record("\(error)")
              return
            }
            #expect(abs(seconds - offset) <= 2)
          }
        }
      }
    }
  }

  @Test func `a change that the server cannot make is an error`() async throws {
    try await NameServer.with { server in
      try await withNetworkLoop { loop in
        try await advertiser("Ann", in: try domain(server), on: loop).run { advertisement in
          try await server.end()
          await #expect(throws: DiscoveryError.self) {
            try await advertisement.update(txt: ["seats": "2/2"])
          }
        }
      }
    }
  }

  @Test func `the tool shows neither a key nor what is in a key file`() async throws {
    try await NameServer.with { server in
      let secret = "U2VjcmV0IHNlY3JldCBzZWNyZXQ="
      let files = [
        "key game-key { algorithm hmac-sha256; secret \"\(secret)\"; };",
        "key game-key { algorithm \(secret); secret hmac-sha256; };", "\(secret)",
      ]
      for (number, text) in files.enumerated() {
        let file = server.folder.appendingPathComponent("wrong-\(number).key")
        try Data(text.utf8).write(to: file)
        for command in [["publish", "Ann", "_game._udp", "7777", "--interface", "lo"], ["reap"]] {
          let tool = try server.start(
            try Self.tool(),
            command + [
              "--domain", NameServer.domain, "--server", server.address, "--key", file.path,
            ])
          _ = try await tool.line(containing: "carom: ", "key")
          #expect(!tool.transcript.contains(secret))
          tool.endInput()
        }
      }
    }
  }

  /// The path of the tool, which is in the folder of the tests.
  private static func tool() throws -> String {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(fileURLWithPath: tests).deletingLastPathComponent()
      .appendingPathComponent("carom").path
  }

  @Test func `R84: updates that do not fit into a datagram go over TCP`() async throws {
    try await NameServer.with { server in
      try await withNetworkLoop { loop in
        let subtypes = (0..<60).map { "_subtype-number-\($0)-of-sixty" }
        let ours = advertiser("Ann", in: try domain(server), on: loop, subtypes: subtypes)
        try await ours.run { _ in
          let zone = try await server.zone()
          #expect(zone.filter { $0.contains("_sub._game._udp PTR") }.count == 60)
        }
        #expect(try await !server.zone().contains { $0.contains("_game") })
      }
    }
  }

  @Test func `R81 R84: the recommended domain is found, and its server`() async throws {
    try await NameServer.with { server in
      try await withNetworkLoop { loop in
        UnicastConfiguration.use(
          UnicastConfiguration(servers: [server.endpoint], domains: ["play.example"]))
        defer { UnicastConfiguration.use(nil) }
        let recommended = RegistrationDomain(key: try key(server))
        try await advertiser("Ann", in: recommended, on: loop).run { _ in
          let browser = ServiceBrowser(
            for: Self.type, domain: "play.example", interfaces: Self.loopback, on: loop)
          for try await change in browser.changes {
            #expect(change.service.name == "Ann")
            let resolved = try await change.service.resolve()
            #expect(resolved.endpoints.contains(Endpoint(.loopback4, port: 7777)))
            break
          }
        }
      }
    }
  }

  @Test(.enabled(if: Peers.avahi, Peers.avahiIsNeeded))
  func `R81 R84: avahi and carom on another host find a service in a domain`() async throws {
    let folder = NameServer.newFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    try await Lab.with(hosts: 2) { lab in
      let server = try lab.start("h1", "./wide/named-lab.sh", folder.path, "10.77.0.1", "53")
      _ = try await server.line(containing: "running")
      let daemon = try lab.start("h2", "./wide/avahi-wide.sh", "10.77.0.1")
      _ = try await daemon.line(containing: "Server startup complete")
      let tool = try Self.tool()
      let ours = try lab.start(
        "h1", tool, "publish", "Ann", "_game._udp", "7777", "seats=1/2", "--json", "--domain",
        NameServer.domain, "--server", "10.77.0.1", "--key",
        folder.appendingPathComponent("key.conf").path)
      _ = try await ours.line(containing: "published")
      let avahi = try lab.start("h2", "avahi-browse", "-d", NameServer.domain, "-rp", "_game._udp")
      let found = try await avahi.line(containing: "=;", ";Ann;_game._udp;play.example;")
      #expect(found.contains(";7777;\"seats=1/2\""))
      let browse = try lab.start(
        "h2", tool, "browse", "_game._udp", NameServer.domain, "--server", "10.77.0.1",
        "--resolve", "--json")
      _ = try await browse.line(containing: "resolved", "Ann", "10.77.0.1:7777")
    }
  }

  @Test func `R84: a thousand services are registered and listed over TCP`() async throws {
    try await NameServer.with { server in
      try await withNetworkLoop { loop in
        let client = UnicastClient(on: loop)
        let (key, type): (_, Name) = (try key(server).key, "_game._udp.play.example")
        for number in 0..<1000 {
          let instance = try type.prefixed(by: "room \(number)")
          var update = DynamicUpdate(zone: "play.example")
          update.add(type, .pointer(instance), timeToLive: 60)
          update.add(
            instance, .service(priority: 0, weight: 0, port: 7777, target: "ns.play.example"),
            timeToLive: 60)
          update.add(instance, .text([0]), timeToLive: 60)
          _ = try await client.update(update, signedWith: key, at: [server.endpoint])
        }
        let answer = try await client.ask(type, .ptr, of: [server.endpoint])
        #expect(answer.records.count == 1000)
        #expect(try await server.dig("_game._udp.play.example", "PTR").count == 1000)
      }
    }
  }

  @Test func `R85: a service whose program was killed is removed when its lease has ended`()
    async throws
  {
    try await NameServer.with { server in
      let before = try await server.zone()
      let tool = try Self.tool()
      let options = ["--domain", NameServer.domain, "--server", server.address]
      let key = ["--key", server.keyFile]
      let killed = try server.start(
        tool,
        ["publish", "Ann", "_game._udp", "7777", "--json", "--interface", "lo"]
          + options + key + ["--lease", "10"])
      _ = try await killed.line(containing: "published")
      try await withNetworkLoop { loop in
        let domain = try domain(server)
        try await advertiser("Ben", in: domain, on: loop).run { _ in
          killed.endInput()
          let reaper = try server.start(tool, ["reap", "--json", "--every", "1"] + options + key)
          _ = try await reaper.line(containing: "\"removed\":0", "\"leased\":2")
          _ = try await reaper.line(containing: "removed", "Ann._game._udp.play.example")
          reaper.endInput()
          let zone = try await server.zone()
          #expect(
            zone.filter { $0.hasPrefix("_game._udp PTR") } == ["_game._udp PTR 60 Ben._game._udp"])
          #expect(!zone.contains { $0.contains("Ann") })
        }
      }
      #expect(try await server.zone().sorted() == before.sorted())
    }
  }
}
