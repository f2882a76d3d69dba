import CaromCore
import CaromTesting
import Testing

@testable import CaromProtocol

#if DEBUG
  private let seeds: ClosedRange<UInt64> = 1...1
#else
  private let seeds: ClosedRange<UInt64> = 1...8
#endif

@Suite struct LinkTests {
  private let game = Load(hertz: 60, ticks: 120)
  private static let blocked = LinkConditions.steady.with { $0.blocksDatagrams = true }
  private let far = LinkProfile("far", LinkConditions(oneWay: .milliseconds(50)))

  private func expectWhole(_ pair: VirtualPair, _ note: String = "") {
    #expect(pair.faults.isEmpty, "\(note)")
    #expect(pair.hostPeer.endings.isEmpty && pair.clientPeer.endings.isEmpty, "\(note)")
  }

  @Test(arguments: VirtualPeer.Links.all)
  func `a game crosses every kind of link`(links: VirtualPeer.Links) throws {
    var pair = VirtualPair(seed: 1, links: links, load: game)
    #expect(try pair.runLoad(for: .seconds(10)))
    expectWhole(pair)
    #expect(pair.clientPeer.checker.states >= 118)
    #expect(pair.hostPeer.checker.states >= 118)
    let kind: LinkKind = links.contains(.datagram) ? .datagram : .stream
    #expect(pair.clientPeer.connection?.link == kind)
    #expect(pair.hostPeer.connection?.link == kind)
  }

  @Test(arguments: VirtualPeer.Links.datagrams)
  func `a seat is granted in two round trips over datagrams, and in three with encryption`(
    links: VirtualPeer.Links
  ) throws {
    var pair = VirtualPair(seed: 1, profile: far, links: links)
    try pair.world.run(for: .seconds(1))
    let roundTrips: Int64 = links.contains(.encrypted) ? 3 : 2
    #expect(pair.clientPeer.openedAt?.nanoseconds == roundTrips * 100_000_000)
  }

  @Test(arguments: VirtualPeer.Links.bothKinds)
  func `a stream and datagrams form one connection, which opens once on each side`(
    links: VirtualPeer.Links
  ) throws {
    var pair = VirtualPair(seed: 1, profile: far, links: links, load: game)
    #expect(try pair.runLoad(for: .seconds(10)))
    for peer in [pair.hostPeer, pair.clientPeer] {
      #expect(
        peer.events.count { if case .connection(_, .opened) = $0 { true } else { false } } == 1)
      #expect(peer.machine.connectionIDs.count == 1)
      #expect(peer.connection?.stream?.isJoined == true)
      #expect(peer.connection?.datagram?.isResponsive == true)
    }
  }

  @Test(arguments: VirtualPeer.Links.bothKinds)
  func `the stream carries all messages where datagrams are blocked`(
    links: VirtualPeer.Links
  ) throws {
    let profile = LinkProfile("blocked", Self.blocked)
    var pair = VirtualPair(seed: 1, profile: profile, links: links, load: game)
    #expect(try pair.runLoad(for: .seconds(10)))
    expectWhole(pair)
    #expect(pair.clientPeer.connection?.link == .stream)
    #expect(pair.clientPeer.openedAt?.nanoseconds ?? .max < 10_000_000)
  }

  @Test(arguments: seeds, VirtualPeer.Links.bothKinds)
  func `the stream carries messages while datagrams are blocked, and datagrams do afterwards`(
    seed: UInt64, links: VirtualPeer.Links
  ) throws {
    let load = Load(hertz: 60, ticks: 360, bulkBytes: 400 << 10)
    var pair = VirtualPair(seed: seed, links: links, load: load)
    try pair.world.run(for: .milliseconds(300))
    #expect(pair.clientPeer.connection?.link == .datagram)
    pair.setConditions(Self.blocked)
    try pair.world.run(for: .seconds(3))
    #expect(pair.clientPeer.connection?.link == .stream)
    #expect(pair.hostPeer.connection?.link == .stream)
    pair.setConditions(.steady)
    #expect(try pair.runLoad(for: .seconds(30)), "seed \(seed)")
    expectWhole(pair, "seed \(seed)")
    #expect(pair.clientPeer.connection?.link == .datagram)
    #expect(
      pair.clientPeer.events.contains {
        if case .connection(_, .linkChanged(.stream)) = $0 { true } else { false }
      })
  }

  @Test(arguments: seeds)
  func `losing a quarter of the packets on a short path does not switch to the stream`(seed: UInt64)
    throws
  {
    let near = LinkConditions(oneWay: .microseconds(200), loss: 0.25)
    var pair = VirtualPair(
      seed: seed, profile: LinkProfile("near", near), links: .both,
      load: Load(hertz: 60, ticks: 1_200))
    try pair.world.run(for: .seconds(3))
    let (before, host) = (pair.clientPeer.events.count, pair.hostPeer.events.count)
    #expect(try pair.runLoad(for: .seconds(30)))
    expectWhole(pair)
    let events = pair.clientPeer.events.dropFirst(before) + pair.hostPeer.events.dropFirst(host)
    let changes = events.count { if case .connection(_, .linkChanged) = $0 { true } else { false } }
    #expect(changes == 0)
  }

  @Test(arguments: seeds, VirtualPeer.Links.bothKinds)
  func `cutting the stream loses nothing while datagrams pass`(
    seed: UInt64, links: VirtualPeer.Links
  ) throws {
    let load = Load(hertz: 60, ticks: 120, bulkBytes: 200 << 10)
    var pair = VirtualPair(seed: seed, links: links, load: load)
    try pair.world.run(for: .milliseconds(500))
    let client = pair.client
    pair.world.withNode(of: client) { node, network in node.cutStreams(in: &network) }
    #expect(try pair.runLoad(for: .seconds(30)))
    expectWhole(pair)
  }

  @Test(arguments: VirtualPeer.Links.datagrams)
  func `two runs with the same seed are identical`(links: VirtualPeer.Links) throws {
    func run() throws -> Trace {
      var pair = VirtualPair(
        seed: 9, profile: LinkProfile("average", .average), links: links, load: game)
      pair.world.network.trace = Trace()
      _ = try pair.runLoad(for: .seconds(20))
      return try #require(pair.world.network.trace)
    }
    let (first, second) = (try run(), try run())
    #expect(first.firstDifference(from: second) == nil)
    #expect(first.entries.count > 400)
  }
}

@Suite struct ResumeTests {
  private static var timing: SessionTiming {
    var timing = SessionTiming()
    timing.resumeLimit = .seconds(30)
    return timing
  }

  @Test(arguments: VirtualPeer.Links.all)
  func `a connection resumes without loss after an interruption of ten seconds`(
    links: VirtualPeer.Links
  ) throws {
    let load = Load(hertz: 60, ticks: 750, bulkBytes: 100 << 10)
    var pair = VirtualPair(seed: 4, links: links, load: load, timing: Self.timing)
    try pair.world.run(for: .milliseconds(300))
    pair.setConditions(.cut)
    try pair.world.run(for: .seconds(10))
    for peer in [pair.hostPeer, pair.clientPeer] {
      #expect(
        peer.events.contains { if case .connection(_, .interrupted) = $0 { true } else { false } })
    }
    pair.setConditions(.steady)
    #expect(try pair.runLoad(for: .seconds(60)))
    #expect(pair.faults.isEmpty)
    for peer in [pair.hostPeer, pair.clientPeer] {
      #expect(peer.endings.isEmpty)
      #expect(
        peer.events.contains { if case .connection(_, .resumed) = $0 { true } else { false } })
    }
  }

  @Test func `a stream that breaks before it resumes a connection does not end the interruption`() {
    let now = Instant(nanoseconds: 1_000_000_000)
    var client = Connection.initiatingOnStream(
      as: LocalSide(makePeer(2), timing: Self.timing), at: now)
    let grant = ControlPacket.grant(version: SessionWire.version, makePeer(1)).packet.framed()
    client.receive(grant.span, at: now)
    client.handleLinkEnd(.reset, at: now)
    client.addStream(at: now + .seconds(1))
    client.handleLinkEnd(.reset, at: now + .seconds(2))
    #expect(client.isOpen)
    client.handleTimeout(at: now + .seconds(30) + .nanoseconds(-1))
    #expect(client.isOpen)
    client.handleTimeout(at: now + .seconds(30))
    var events: [ConnectionEvent] = []
    while let event = client.pollEvent() { events.append(event) }
    #expect(
      events == [
        .opened(makePeer(1)), .interrupted, .reconnect, .reconnect, .closed(.timedOut),
      ])
  }

  @Test(arguments: VirtualPeer.Links.bothKinds)
  func `a connection that is not resumed in time ends once on each side`(
    links: VirtualPeer.Links
  ) throws {
    var pair = VirtualPair(seed: 4, links: links, timing: Self.timing)
    try pair.world.run(for: .milliseconds(300))
    pair.setConditions(.cut)
    try pair.world.run(for: .seconds(40))
    #expect(pair.hostPeer.endings == [.timedOut])
    #expect(pair.clientPeer.endings == [.timedOut])
  }

  @Test(arguments: VirtualPeer.Links.all)
  func `silence ends a connection that may not be resumed`(links: VirtualPeer.Links) throws {
    var pair = VirtualPair(seed: 4, links: links, timing: .withoutResuming)
    try pair.world.run(for: .milliseconds(300))
    pair.setConditions(.cut)
    try pair.world.run(for: .seconds(5))
    #expect(pair.hostPeer.endings == [.timedOut])
    #expect(pair.clientPeer.endings == [.timedOut])
  }

  @Test(arguments: VirtualPeer.Links.all)
  func `unless its timing says otherwise, a connection can be resumed for ten seconds`(
    links: VirtualPeer.Links
  ) throws {
    var pair = VirtualPair(
      seed: 4, links: links, load: Load(hertz: 60, ticks: 900, bulkBytes: 100 << 10))
    try pair.world.run(for: .milliseconds(300))
    pair.setConditions(.cut)
    try pair.world.run(for: .seconds(9))
    pair.setConditions(.steady)
    #expect(try pair.runLoad(for: .seconds(60)))
    #expect(pair.faults.isEmpty)
    #expect(pair.hostPeer.endings.isEmpty && pair.clientPeer.endings.isEmpty)
    pair.setConditions(.cut)
    // The last ping may be a second old when the silence begins. Streams that were opened during
    // the first cut, and that the client gave up, end on the host too.
    try pair.world.run(for: .seconds(12))
    #expect(!pair.hostPeer.endings.contains(.timedOut) && pair.clientPeer.endings.isEmpty)
    try pair.world.run(for: .seconds(3))
    #expect(pair.hostPeer.endings.count { $0 == .timedOut } == 1)
    #expect(pair.clientPeer.endings == [.timedOut])
  }

  @Test(arguments: VirtualPeer.Links.bothKinds)
  func `packets in flight when a stream ended do not prove that the peer is alive`(
    links: VirtualPeer.Links
  ) throws {
    let load = Load(hertz: 60, ticks: 600)
    var pair = VirtualPair(seed: 6, links: links, load: load, timing: .withoutResuming)
    pair.setConditions(LinkConditions(oneWay: .milliseconds(50)))
    try pair.world.run(for: .seconds(1))
    // Unlike a cut, total loss does not affect packets that are already in flight.
    pair.setConditions(LinkConditions(oneWay: .milliseconds(50), loss: 1))
    let host = pair.host
    pair.world.withNode(of: host) { node, network in node.cutStreams(in: &network) }
    try pair.world.run(for: .milliseconds(1_200))
    #expect(pair.hostPeer.endings == [.connectionReset])
  }

  @Test(arguments: VirtualPeer.Links.all)
  func `a goodbye arrives at a peer that keeps sending`(links: VirtualPeer.Links) throws {
    var pair = VirtualPair(seed: 7, links: links, load: Load(hertz: 500, ticks: 3_000))
    try pair.world.run(for: .seconds(1))
    let host = pair.host
    pair.world.withNode(of: host) { node, network in node.close(in: &network) }
    try pair.world.run(for: .milliseconds(500))
    #expect(pair.clientPeer.endings == [.left])
  }

  @Test(arguments: VirtualPeer.Links.bothKinds)
  func `a host does not wait for a client that ends as soon as it is idle`(
    links: VirtualPeer.Links
  ) throws {
    var pair = VirtualPair(
      seed: 5, profile: LinkProfile("steady", LinkConditions(oneWay: .milliseconds(10))),
      links: links)
    try pair.world.run(for: .seconds(1))
    let (host, client) = (pair.host, pair.client)
    pair.world.withNode(of: host) { node, network in node.close(in: &network) }
    let isIdle = try pair.world.run(for: .seconds(1)) { world in
      world[client]?.endings == [.left] && world[client]?.machine.isIdle == true
    }
    #expect(isIdle)
    _ = pair.world.stop(client)
    try pair.world.run(for: .milliseconds(100))
    #expect(pair.hostPeer.machine.connectionIDs.isEmpty)
  }

  @Test(arguments: VirtualPeer.Links.all)
  func `a goodbye arrives and leaves no state on either side`(links: VirtualPeer.Links) throws {
    var pair = VirtualPair(seed: 5, links: links)
    try pair.world.run(for: .milliseconds(300))
    let client = pair.client
    pair.world.withNode(of: client) { node, network in node.close(in: &network) }
    try pair.world.run(for: .seconds(3))
    #expect(pair.hostPeer.endings == [.left])
    #expect(pair.clientPeer.endings == [.closedLocally])
    #expect(
      pair.hostPeer.machine.connectionIDs.isEmpty && pair.clientPeer.machine.connectionIDs.isEmpty)
    #expect(pair.hostPeer.nextTimeout == nil && pair.clientPeer.nextTimeout == nil)
  }
}
