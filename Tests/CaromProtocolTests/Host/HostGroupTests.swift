import CaromCore
import CaromTesting
import Testing

@testable import CaromProtocol

/// A group of hosts that share a port, and clients that connect to it.
private struct GroupFixture {
  var world: VirtualWorld<GroupNode>
  /// The machine that the group runs on.
  let machine: VirtualHost
  var clients: [VirtualHost] = []
  let links: VirtualPeer.Links
  let load: Load
  let seed: UInt64

  init(
    seed: UInt64, members: Int = 4, seats: Int, clients count: Int,
    links: VirtualPeer.Links = .both, load: Load = Load(hertz: 30, ticks: 30),
    conditions: LinkConditions = .steady
  ) {
    world = VirtualWorld(seed: seed, conditions: conditions)
    self.seed = seed
    self.links = links
    self.load = load
    machine = world.network.addHost(on: [0])
    let node = VirtualHostGroup(on: machine, members: members, seats: seats, load: load, seed: seed)
    world.start(GroupNode(group: node), on: machine)
    for _ in 0..<count {
      clients.append(world.network.addHost(on: [0]))
      start(clients.count - 1)
    }
  }

  /// Starts a client, or restarts it as the same peer with another connection key.
  mutating func start(_ client: Int, again round: UInt64 = 0) {
    let host = clients[client]
    world.start(
      GroupNode(
        client: VirtualPeer(
          on: host, connectingTo: machine, links: links, load: load,
          seed: seed &+ round &* 1_000_003)),
      on: host)
  }

  /// Lets a client leave and connect again; returns how many milliseconds connecting took.
  mutating func reconnect(_ client: Int, with token: JoinToken) throws -> Int64? {
    world.withNode(of: clients[client]) { $0.client?.close(in: &$1) }
    try world.run(for: .seconds(3))
    let begin = world.network.now
    world.withNode(of: clients[client]) { $0.client?.connectAgain(with: token, in: &$1) }
    try world.run(for: .seconds(2))
    return self.client(client).openedAt.map { ($0.nanoseconds - begin.nanoseconds) / 1_000_000 }
  }

  var group: VirtualHostGroup { world[machine]!.group! }
  func client(_ index: Int) -> VirtualPeer { world[clients[index]]!.client! }

  /// Runs until all peers have received everything; returns false if that took longer than
  /// `duration`.
  mutating func runLoad(for duration: Duration) throws -> Bool {
    let end = world.network.now + duration
    while world.network.now < end {
      try world.run(for: .milliseconds(100), stepLimit: 5_000_000)
      if isDone { return true }
    }
    return false
  }

  private var isDone: Bool {
    let group = group
    return group.open.count == clients.count
      && group.open.allSatisfy {
        group.senders[$0]?.isDone == true && group.checkers[$0]?.events == 5
      } && clients.indices.allSatisfy { isDone(client($0)) }
  }

  private func isDone(_ client: VirtualPeer) -> Bool {
    client.openedAt != nil && client.sender.isDone && client.checker.events == 5
  }

  func expectNoFaults(_ note: String = "") {
    let faults = clients.indices.flatMap { client($0).checker.faults }
    #expect(faults.isEmpty && group.checkers.values.allSatisfy { $0.faults.isEmpty }, "\(note)")
    #expect(group.endings.isEmpty, "\(note)")
  }
}

/// Hosts that share a port and a directory of connections.
@Suite struct HostGroupTests {
  #if DEBUG
    private static let seeds: ClosedRange<UInt64> = 1...1
  #else
    private static let seeds: ClosedRange<UInt64> = 1...20
  #endif

  @Test(arguments: seeds)
  func `the links of a connection find each other on any host and deliver everything once`(
    seed: UInt64
  ) throws {
    var fixture = GroupFixture(seed: seed, seats: 16, clients: 16)
    #expect(try fixture.runLoad(for: .seconds(10)), "seed \(seed)")
    fixture.expectNoFaults("seed \(seed)")
    for index in fixture.clients.indices {
      let connection = fixture.client(index).connection
      #expect(connection?.stream?.isJoined == true, "seed \(seed), client \(index)")
      #expect(connection?.datagram?.isResponsive == true, "seed \(seed), client \(index)")
    }
    let group = fixture.group
    #expect(group.opened == 16 && group.directory.owners.count == 16)
    #expect(group.handedStreams > 4, "most streams arrive at another host than the datagrams")
    #expect(group.hosts.allSatisfy { !$0.connectionIDs.isEmpty })
  }

  @Test(arguments: seeds)
  func `all messages arrive once over lossy links to a group`(seed: UInt64) throws {
    let bad = LinkConditions(
      oneWay: .milliseconds(30), jitter: .uniform(.milliseconds(5)), loss: 0.05)
    var fixture = GroupFixture(seed: seed, members: 3, seats: 8, clients: 8, conditions: bad)
    #expect(try fixture.runLoad(for: .seconds(30)), "seed \(seed)")
    fixture.expectNoFaults("seed \(seed)")
    #expect(fixture.group.opened == 8)
  }

  @Test(arguments: seeds)
  func `the hosts of a group share their seats`(seed: UInt64) throws {
    var fixture = GroupFixture(seed: seed, seats: 7, clients: 20)
    try fixture.world.run(for: .seconds(3))
    #expect(fixture.group.mostOpen == 7 && fixture.group.open.count == 7)
    let refused = fixture.clients.indices.count { fixture.client($0).endings == [.full] }
    #expect(refused == 13)
    // A released seat is free again at once, on every host.
    for index in fixture.clients.indices where fixture.client(index).endings.isEmpty {
      let host = fixture.clients[index]
      fixture.world.withNode(of: host) { node, network in
        node.client?.close(in: &network)
      }
    }
    try fixture.world.run(for: .milliseconds(100))
    let before = fixture.group.opened
    for index in fixture.clients.indices where fixture.client(index).endings == [.full] {
      _ = fixture.world.stop(fixture.clients[index])
      fixture.start(index, again: 1)
    }
    try fixture.world.run(for: .seconds(3))
    #expect(fixture.group.opened == before + 7 && fixture.group.mostOpen == 7)
  }

  @Test(arguments: [VirtualPeer.Links.datagram, .stream, .both])
  func `a peer that reconnects replaces its connection on any host of the group`(
    links: VirtualPeer.Links
  ) throws {
    var fixture = GroupFixture(seed: 5, seats: 8, clients: 8, links: links)
    try fixture.world.run(for: .milliseconds(500))
    #expect(fixture.group.open.count == 8)
    for round in 1...3 {
      for index in fixture.clients.indices {
        _ = fixture.world.stop(fixture.clients[index])
        fixture.start(index, again: UInt64(round))
      }
      try fixture.world.run(for: .milliseconds(700))
      #expect(fixture.group.mostOpen == 8 && fixture.group.open.count == 8)
    }
    let replaced = fixture.group.endings.count { $0 == .replaced }
    #expect(replaced > 0 && fixture.group.opened == 8 + fixture.group.endings.count)
  }

  @Test(arguments: seeds)
  func `a connection continues from a new address on the same host`(seed: UInt64) throws {
    var fixture = GroupFixture(seed: seed, seats: 12, clients: 12)
    for _ in 0..<4 {
      try fixture.world.run(for: .milliseconds(230), stepLimit: 5_000_000)
      for client in fixture.clients { fixture.world.network.rebind(client) }
    }
    #expect(try fixture.runLoad(for: .seconds(10)), "seed \(seed)")
    fixture.expectNoFaults("seed \(seed)")
    #expect(fixture.group.opened == 12 && fixture.group.relayedDatagrams > 0, "seed \(seed)")
  }

  @Test func `a late link of an ended connection opens nothing on any host`() throws {
    let now = Instant(nanoseconds: 1_000_000_000)
    let key = ConnectionKey(prefix: 1, rest: 2)
    var directory = HostDirectory(seats: 4)
    var hosts = (0..<2).map {
      Host(makePeer(1), seats: 4, timing: .withoutResuming, member: $0)
    }
    func send(_ packet: ControlPacket, to member: Int) -> ConnectionID {
      let id = hosts[member].makeConnectionID()
      _ = hosts[member].accept(id, at: now)
      hosts[member].receive(packet.packet.framed().span, on: id, at: now)
      hosts[member].resolveRequests(with: &directory, at: now)
      return id
    }
    let request = ControlPacket.request(version: SessionWire.version, key, makePeer(2))
    let id = send(request, to: 0)
    hosts[0].admit(id, at: now)
    hosts[0].resolveRequests(with: &directory, at: now)
    #expect(hosts[0].isOpen(id))
    hosts[0].handleLinkEnd(.ended, of: id, at: now)
    hosts[0].didFlush(id, at: now)
    hosts[0].resolveRequests(with: &directory, at: now)
    #expect(directory.owners.count == 0 && directory.state(of: key) == .ended)
    for packet in [request, .join(version: SessionWire.version, key)] {
      let late = send(packet, to: 1)
      let event = hosts[1].pollEvent()
      #expect(event == .closed(late, nil, .connectionLost, wasOpen: false))
    }
    #expect(directory.seating.free(forSpectators: false) == 4)
  }

  @Test func `a token from one host is valid once at every host of the group`() throws {
    var fixture = GroupFixture(
      seed: 3, seats: 4, clients: 4, links: .datagram, load: Load(),
      conditions: LinkConditions(oneWay: .milliseconds(50)))
    try fixture.world.run(for: .seconds(2))
    for index in fixture.clients.indices {
      let token = try #require(fixture.client(index).token)
      #expect(try fixture.reconnect(index, with: token) == 100)
      #expect(try fixture.reconnect(index, with: token) == 200)
    }
    #expect(fixture.group.mostOpen == 4 && fixture.group.open.count == 4)
  }
}
