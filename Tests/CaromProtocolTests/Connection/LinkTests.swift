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

  private func expectWhole(_ duel: VirtualPair, _ note: String = "") {
    #expect(duel.faults.isEmpty, "\(note)")
    #expect(duel.hostPeer.endings.isEmpty && duel.callerPeer.endings.isEmpty, "\(note)")
  }

  @Test(arguments: [VirtualPeer.Links.datagram, .stream, .both])
  func `a game crosses every kind of link`(links: VirtualPeer.Links) throws {
    var duel = VirtualPair(seed: 1, links: links, load: game)
    #expect(try duel.runLoad(for: .seconds(10)))
    expectWhole(duel)
    #expect(duel.callerPeer.checker.states >= 118)
    #expect(duel.hostPeer.checker.states >= 118)
    let kind: LinkKind = links == .stream ? .stream : .datagram
    #expect(duel.callerPeer.connection?.link == kind)
    #expect(duel.hostPeer.connection?.link == kind)
  }

  @Test func `over datagrams a seat is granted in two round trips`() throws {
    var duel = VirtualPair(seed: 1, profile: far)
    try duel.world.run(for: .seconds(1))
    #expect(duel.callerPeer.openedAt?.nanoseconds == 200_000_000)
  }

  @Test func `a stream and datagrams are one connection, and one event each side`() throws {
    var duel = VirtualPair(seed: 1, profile: far, links: .both, load: game)
    #expect(try duel.runLoad(for: .seconds(10)))
    for peer in [duel.hostPeer, duel.callerPeer] {
      #expect(
        peer.events.count { if case .connection(_, .opened) = $0 { true } else { false } } == 1)
      #expect(peer.machine.connectionIDs.count == 1)
      #expect(peer.connection?.stream?.isJoined == true)
      #expect(peer.connection?.datagram?.isAnswered == true)
    }
  }

  @Test func `where datagrams are blocked the stream carries everything`() throws {
    let profile = LinkProfile("blocked", Self.blocked)
    var duel = VirtualPair(seed: 1, profile: profile, links: .both, load: game)
    #expect(try duel.runLoad(for: .seconds(10)))
    expectWhole(duel)
    #expect(duel.callerPeer.connection?.link == .stream)
    #expect(duel.callerPeer.openedAt?.nanoseconds ?? .max < 10_000_000)
  }

  @Test(arguments: seeds)
  func `datagrams that stop passing are replaced by the stream, and come back`(
    seed: UInt64
  ) throws {
    let load = Load(hertz: 60, ticks: 360, bulkBytes: 400 << 10)
    var duel = VirtualPair(seed: seed, links: .both, load: load)
    try duel.world.run(for: .milliseconds(300))
    #expect(duel.callerPeer.connection?.link == .datagram)
    duel.setConditions(Self.blocked)
    try duel.world.run(for: .seconds(3))
    #expect(duel.callerPeer.connection?.link == .stream)
    #expect(duel.hostPeer.connection?.link == .stream)
    duel.setConditions(.steady)
    #expect(try duel.runLoad(for: .seconds(30)), "seed \(seed)")
    expectWhole(duel, "seed \(seed)")
    #expect(duel.callerPeer.connection?.link == .datagram)
    #expect(
      duel.callerPeer.events.contains {
        if case .connection(_, .linkChanged(.stream)) = $0 { true } else { false }
      })
  }

  @Test(arguments: seeds)
  func `a near path that loses a quarter is no reason for the stream`(seed: UInt64) throws {
    let near = LinkConditions(oneWay: .microseconds(200), loss: 0.25)
    var duel = VirtualPair(
      seed: seed, profile: LinkProfile("near", near), links: .both,
      load: Load(hertz: 60, ticks: 1_200))
    try duel.world.run(for: .seconds(3))
    let (before, host) = (duel.callerPeer.events.count, duel.hostPeer.events.count)
    #expect(try duel.runLoad(for: .seconds(30)))
    expectWhole(duel)
    let events = duel.callerPeer.events.dropFirst(before) + duel.hostPeer.events.dropFirst(host)
    let changes = events.count { if case .connection(_, .linkChanged) = $0 { true } else { false } }
    #expect(changes == 0)
  }

  @Test(arguments: seeds)
  func `a stream that is cut costs nothing where datagrams pass`(seed: UInt64) throws {
    let load = Load(hertz: 60, ticks: 120, bulkBytes: 200 << 10)
    var duel = VirtualPair(seed: seed, links: .both, load: load)
    try duel.world.run(for: .milliseconds(500))
    let caller = duel.caller
    duel.world.withNode(of: caller) { node, network in node.cutStreams(in: &network) }
    #expect(try duel.runLoad(for: .seconds(30)))
    expectWhole(duel)
  }

  @Test func `one seed is one run, bit for bit`() throws {
    func run() throws -> Trace {
      var duel = VirtualPair(seed: 9, profile: LinkProfile("average", .average), load: game)
      duel.world.network.trace = Trace()
      _ = try duel.runLoad(for: .seconds(20))
      return try #require(duel.world.network.trace)
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

  @Test(arguments: [VirtualPeer.Links.datagram, .stream, .both])
  func `what was cut for ten seconds goes on as if nothing had been`(
    links: VirtualPeer.Links
  ) throws {
    let load = Load(hertz: 60, ticks: 750, bulkBytes: 100 << 10)
    var duel = VirtualPair(seed: 4, links: links, load: load, timing: Self.timing)
    try duel.world.run(for: .milliseconds(300))
    duel.setConditions(.cut)
    try duel.world.run(for: .seconds(10))
    for peer in [duel.hostPeer, duel.callerPeer] {
      #expect(
        peer.events.contains { if case .connection(_, .interrupted) = $0 { true } else { false } })
    }
    duel.setConditions(.steady)
    #expect(try duel.runLoad(for: .seconds(60)))
    #expect(duel.faults.isEmpty)
    for peer in [duel.hostPeer, duel.callerPeer] {
      #expect(peer.endings.isEmpty)
      #expect(
        peer.events.contains { if case .connection(_, .resumed) = $0 { true } else { false } })
    }
  }

  @Test func `what is not resumed in time ends, once, on both sides`() throws {
    var duel = VirtualPair(seed: 4, links: .both, timing: Self.timing)
    try duel.world.run(for: .milliseconds(300))
    duel.setConditions(.cut)
    try duel.world.run(for: .seconds(40))
    #expect(duel.hostPeer.endings == [.timedOut])
    #expect(duel.callerPeer.endings == [.timedOut])
  }

  @Test(arguments: [VirtualPeer.Links.datagram, .stream, .both])
  func `without a limit for it silence is the end`(links: VirtualPeer.Links) throws {
    var duel = VirtualPair(seed: 4, links: links)
    try duel.world.run(for: .milliseconds(300))
    duel.setConditions(.cut)
    try duel.world.run(for: .seconds(5))
    #expect(duel.hostPeer.endings == [.timedOut])
    #expect(duel.callerPeer.endings == [.timedOut])
  }

  @Test func `what was under way when a stream ended does not prove that its sender lives`() throws
  {
    let load = Load(hertz: 60, ticks: 600)
    var duel = VirtualPair(seed: 6, links: .both, load: load)
    duel.setConditions(LinkConditions(oneWay: .milliseconds(50)))
    try duel.world.run(for: .seconds(1))
    // Unlike a cut, this lets through what is on its way.
    duel.setConditions(LinkConditions(oneWay: .milliseconds(50), loss: 1))
    let host = duel.host
    duel.world.withNode(of: host) { node, network in node.cutStreams(in: &network) }
    try duel.world.run(for: .milliseconds(1_200))
    #expect(duel.hostPeer.endings == [.connectionReset])
  }

  @Test(arguments: [VirtualPeer.Links.datagram, .stream, .both])
  func `a goodbye is heard by whoever goes on talking`(links: VirtualPeer.Links) throws {
    var duel = VirtualPair(seed: 7, links: links, load: Load(hertz: 500, ticks: 3_000))
    try duel.world.run(for: .seconds(1))
    let host = duel.host
    duel.world.withNode(of: host) { node, network in node.close(in: &network) }
    try duel.world.run(for: .milliseconds(500))
    #expect(duel.callerPeer.endings == [.left])
  }

  @Test(arguments: [VirtualPeer.Links.datagram, .stream, .both])
  func `a goodbye is heard, and leaves nothing behind`(links: VirtualPeer.Links) throws {
    var duel = VirtualPair(seed: 5, links: links)
    try duel.world.run(for: .milliseconds(300))
    let caller = duel.caller
    duel.world.withNode(of: caller) { node, network in node.close(in: &network) }
    try duel.world.run(for: .seconds(3))
    #expect(duel.hostPeer.endings == [.left])
    #expect(duel.callerPeer.endings == [.closedLocally])
    #expect(
      duel.hostPeer.machine.connectionIDs.isEmpty && duel.callerPeer.machine.connectionIDs.isEmpty)
    #expect(duel.hostPeer.nextTimeout == nil && duel.callerPeer.nextTimeout == nil)
  }
}
