import Carom
import Testing

/// Players who find each other by multicast DNS over the loopback interface (MatchFinder).
@Suite(.timeLimit(.minutes(1)), .serialized) struct MatchFinderTests {
  private static let loopback = InterfaceSelection.named(["lo"])

  /// A service type that no other test uses.
  private static func makeType() throws -> ServiceType {
    let number = UInt32.random(in: 0..<(1 << 31))
    return try ServiceType(name: "carom-\(String(number, radix: 36))", transport: .tcp)
  }

  /// A finder and its events.
  private struct Player {
    let finder: MatchFinder
    let events: Collector
    let port: UInt16
    var node: SessionNode { finder.node }
    var name: String { node.local.name }

    /// Starts a finder. Players with a higher rank have higher ids.
    init(
      _ name: String, rank: UInt64, _ type: ServiceType, window: Duration = .seconds(600),
      over kinds: LinkKinds = .all, on loop: NetworkLoop
    ) async throws {
      var options = MatchFinder.Options(type: type)
      options.interfaces = MatchFinderTests.loopback
      options.window = window
      options.kinds = kinds
      options.security = .none
      let info = PeerInfo(
        id: PeerID(high: rank, low: .random(in: .min ... .max)), name: name, application: "test")
      finder = MatchFinder(as: info, options, on: loop)
      events = Collector(on: loop)
      port = try await finder.begin(owner: events) { $0.take($1) }
    }
  }

  /// Waits until a service of the type has an advertisement for which `isRight` holds.
  private static func waitForService(
    _ type: ServiceType, on loop: NetworkLoop, _ isRight: (Sighting, DiscoveredService) -> Bool
  ) async throws -> DiscoveredService {
    let browser = ServiceBrowser(for: type, interfaces: loopback, on: loop)
    for try await change in browser.changes {
      if case .removed = change { continue }
      if let sighting = Sighting(change.service.txt), isRight(sighting, change.service) {
        return change.service
      }
    }
    throw DiscoveryError.closed
  }

  @Test func `the options have the documented default values`() throws {
    let options = MatchFinder.Options(type: "_game._udp")
    #expect(options.type == "_game._udp" && options.port == 0 && options.kinds == .all)
    #expect(options.window == .seconds(6) && options.timing == SessionTiming())
    #expect(options.security == .anyone && options.conditions == nil)
    #expect(MatchFinder.resolveLimit == .seconds(3))
  }

  @Test(arguments: [true, false])
  func `of two searching players, the one with the lower id joins the other`(isLowerFirst: Bool)
    async throws
  {
    try await withNetworkLoop { loop in
      let type = try Self.makeType()
      let ranks: [UInt64] = isLowerFirst ? [1, 2] : [2, 1]
      let first = try await Player("first", rank: ranks[0], type, on: loop)
      let second = try await Player("second", rank: ranks[1], type, on: loop)
      let (lower, higher) = isLowerFirst ? (first, second) : (second, first)
      let (joined, host) = try await lower.events.opened()
      let (accepted, client) = try await higher.events.opened()
      #expect(host == higher.node.local && client == lower.node.local)
      #expect(await !lower.node.isIncoming(joined))
      #expect(await higher.node.isIncoming(accepted))
      await first.finder.end()
      await second.finder.end()
    }
  }

  @Test(arguments: [1, 3] as [UInt64])
  func `a player who waits is joined, whatever the ids are, and both are then in a match`(
    rank: UInt64
  ) async throws {
    try await withNetworkLoop { loop in
      let type = try Self.makeType()
      let waiting = try await Player("waiting", rank: 2, type, window: .zero, on: loop)
      let found = try await Self.waitForService(type, on: loop) { sighting, service in
        sighting.status == .waiting && service.name == "waiting"
      }
      #expect(Sighting(found.txt)?.id == waiting.node.local.id)
      #expect(Sighting(found.txt)?.freeSeats == 1)
      let resolved = try await found.resolve(within: .seconds(30))
      #expect(resolved.endpoints.contains(Endpoint(.loopback4, port: waiting.port)))
      let other = try await Player("other", rank: rank, type, on: loop)
      #expect(try await waiting.events.opened().1 == other.node.local)
      #expect(try await other.events.opened().1 == waiting.node.local)
      for player in [waiting, other] {
        let service = try await Self.waitForService(type, on: loop) { sighting, service in
          sighting.status == .playing && service.name == player.name
        }
        #expect(Sighting(service.txt)?.freeSeats == 0)
      }
      await waiting.finder.end()
      await other.finder.end()
    }
  }

  @Test func `the session of a finder has the opponent that was found, and knows who hosts`()
    async throws
  {
    try await withNetworkLoop { loop in
      let type = try Self.makeType()
      let found = try await withThrowingTaskGroup { group in
        for rank in [1, 2] as [UInt64] {
          group.addTask { () -> (UInt64, PeerID, Bool) in
            var options = MatchFinder.Options(type: type)
            options.interfaces = Self.loopback
            options.security = .none
            // The players find each other at once, not only when they have stopped searching.
            options.window = .seconds(600)
            let info = PeerInfo(
              id: PeerID(high: rank, low: 0), name: "player \(rank)", application: "test")
            let finder = MatchFinder(as: info, options, on: loop)
            return try await finder.run { session, port in
              #expect(port > 0)
              for await event in session.events {
                guard case .joined(let peer) = event else { continue }
                // The other side has joined too.
                try await peer.send(Note([]), on: .notes)
                for await _ in session.messages(on: .notes) { break }
                return (rank, peer.id, peer.isHost)
              }
              throw CancellationError()
            }
          }
        }
        return try await group.reduce(into: [:]) { $0[$1.0] = ($1.1, $1.2) }
      }
      // The player with the lower id has joined the other.
      #expect(found[1]?.0 == PeerID(high: 2, low: 0) && found[1]?.1 == true)
      #expect(found[2]?.0 == PeerID(high: 1, low: 0) && found[2]?.1 == false)
    }
  }

  @Test func `the end of a finder withdraws its advertisement and says goodbye`() async throws {
    try await withNetworkLoop { loop in
      let type = try Self.makeType()
      let first = try await Player("first", rank: 1, type, on: loop)
      let second = try await Player("second", rank: 2, type, on: loop)
      _ = try await first.events.opened()
      _ = try await second.events.opened()
      let browser = ServiceBrowser(for: type, interfaces: Self.loopback, on: loop)
      var known: Set<String> = []
      for try await change in browser.changes {
        switch change {
        case .added, .updated: known.insert(change.service.name)
        case .removed:
          #expect(change.service.name == "first" && known == ["first", "second"])
        }
        if case .removed = change { break }
        if known.count == 2 { await first.finder.end() }
      }
      #expect(try await second.events.ending() == .left)
      #expect(await first.node.peers.isEmpty)
      await second.finder.end()
    }
  }

  @Test func `a host that cannot be reached does not keep a player from finding another`()
    async throws
  {
    try await withNetworkLoop { loop in
      let type = try Self.makeType()
      let gone = Sighting(id: .random(), status: .hosting, freeSeats: 1)
      let service = AdvertisedService(name: "gone", type: type, port: 9, txt: gone.text)
      let advertiser = ServiceAdvertiser(service, interfaces: Self.loopback, on: loop)
      try await advertiser.run { _ in
        let first = try await Player("first", rank: 1, type, over: .stream, on: loop)
        let second = try await Player("second", rank: 2, type, over: .stream, on: loop)
        #expect(try await first.events.opened().1 == second.node.local)
        #expect(try await second.events.opened().1 == first.node.local)
        await first.finder.end()
        await second.finder.end()
      }
    }
  }

  /// A service that takes over the name of another one, or is withdrawn, does not hide a host.
  @Test func `a host is joined once its advertisement has a free seat, under any of its names`()
    async throws
  {
    try await withNetworkLoop { loop in
      let type = try Self.makeType()
      let host = SessionNode(makePeer("host"), seats: 1, on: loop)
      let hostEvents = Collector(on: loop)
      await hostEvents.watch(host, admitsAll: true)
      let port = try await host.listen(on: [.loopback4])
      let full = Sighting(id: host.local.id, status: .playing, freeSeats: 0)
      let free = Sighting(id: host.local.id, status: .hosting, freeSeats: 1)
      let services = ["one", "two"].map {
        AdvertisedService(name: $0, type: type, port: port, txt: full.text)
      }
      let two = ServiceAdvertiser(services[1], interfaces: Self.loopback, on: loop)
      try await two.run { advertisement in
        let player = try await ServiceAdvertiser(
          services[0], interfaces: Self.loopback, on: loop
        ).run { _ in
          let player = try await Player("player", rank: 1, type, on: loop)
          for name in ["one", "two"] {
            _ = try await Self.waitForService(type, on: loop) { $1.name == name }
          }
          return player
        }
        try await advertisement.update(txt: free.text)
        #expect(try await player.events.opened().1 == host.local)
        #expect(try await hostEvents.opened().1 == player.node.local)
        await player.finder.end()
      }
      await host.shutdown()
    }
  }

  @Test func `a finder listens on the port that it is given, for the kinds of links it offers`()
    async throws
  {
    try await withNetworkLoop { loop in
      let type = try Self.makeType()
      let probe = SessionNode(makePeer("probe"), seats: 1, on: loop)
      let port = try await probe.listen(on: [.loopback4])
      await probe.shutdown()
      var options = MatchFinder.Options(type: type)
      (options.port, options.interfaces, options.security) = (port, Self.loopback, .none)
      let finder = MatchFinder(as: makePeer("finder"), options, on: loop)
      let events = Collector(on: loop)
      #expect(try await finder.begin(owner: events) { $0.take($1) } == port)
      let client = SessionNode(makePeer("client"), seats: 0, on: loop)
      _ = try await client.connect(to: [Endpoint(.loopback4, port: port)])
      #expect(try await events.opened().1 == client.local)
      await client.shutdown()
      await finder.end(Goodbye(.finished))
    }
  }

  /// Session.host and Session.join with services.
  @Test func `a discovered session is hosted and joined with the parameters of both sides`()
    async throws
  {
    try await withNetworkLoop { loop in
      let service = AdvertisedService(name: "chess", type: try Self.makeType(), port: 0)
      try await Session.host(
        service, as: makePeer("host"), interfaces: Self.loopback, on: [.loopback4], over: .stream,
        seats: 1, spectatorSeats: 1, loop: loop,
        admit: { $0.name == "rude" ? .decline("no") : .accept }
      ) { hosting, advertisement in
        #expect(advertisement.name == "chess")
        let browser = ServiceBrowser(for: service.type, interfaces: Self.loopback, on: loop)
        for try await change in browser.changes {
          guard case .added(let found) = change else { continue }
          _ = await #expect(throws: SessionError.refused(.declined("no"))) {
            try await Session.join(found, as: makePeer("rude"), over: .stream, loop: loop) {
              _, _ in
            }
          }
          try await Session.join(found, as: makePeer("client"), over: .stream, loop: loop) {
            _, host in
            #expect(host.name == "host")
            #expect(await host.linkKind == .stream)
            let watching = makePeer("fan", isSpectator: true)
            try await Session.join(found, as: watching, over: .stream, loop: loop) { _, host in
              #expect(host.name == "host")
            }
            _ = await #expect(throws: SessionError.refused(.full)) {
              try await Session.join(found, as: makePeer("late"), over: .stream, loop: loop) {
                _, _ in
              }
            }
          }
          return
        }
      }
    }
  }
}
