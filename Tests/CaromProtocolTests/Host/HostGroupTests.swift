import CaromCore
import CaromTesting
import Testing

@testable import CaromProtocol

/// A house and guests that come to it.
private struct Party {
  var world: VirtualWorld<GroupNode>
  let house: VirtualHost
  var guests: [VirtualHost] = []
  let links: VirtualPeer.Links
  let load: Load
  let seed: UInt64

  init(
    seed: UInt64, members: Int = 4, seats: Int, guests count: Int,
    links: VirtualPeer.Links = .both, load: Load = Load(hertz: 30, ticks: 30),
    conditions: LinkConditions = .steady
  ) {
    world = VirtualWorld(seed: seed, conditions: conditions)
    self.seed = seed
    self.links = links
    self.load = load
    house = world.network.addHost(on: [0])
    let node = VirtualHostGroup(on: house, members: members, seats: seats, load: load, seed: seed)
    world.start(GroupNode(house: node), on: house)
    for _ in 0..<count {
      guests.append(world.network.addHost(on: [0]))
      start(guests.count - 1)
    }
  }

  /// Starts a guest, or starts it anew: the same peer with another key.
  mutating func start(_ guest: Int, again round: UInt64 = 0) {
    let host = guests[guest]
    world.start(
      GroupNode(
        guest: VirtualPeer(
          on: host, calling: house, links: links, load: load, seed: seed &+ round &* 1_000_003)),
      on: host)
  }

  /// A guest leaves and joins once more; how many milliseconds the latter takes.
  mutating func rejoin(_ guest: Int, with token: JoinToken) throws -> Int64? {
    world.withNode(of: guests[guest]) { $0.guest?.close(in: &$1) }
    try world.run(for: .seconds(3))
    let begin = world.network.now
    world.withNode(of: guests[guest]) { $0.guest?.callAgain(with: token, in: &$1) }
    try world.run(for: .seconds(2))
    return self.guest(guest).openedAt.map { ($0.nanoseconds - begin.nanoseconds) / 1_000_000 }
  }

  var hosting: VirtualHostGroup { world[house]!.house! }
  func guest(_ index: Int) -> VirtualPeer { world[guests[index]]!.guest! }

  /// Runs until all have everything.
  mutating func runLoad(for duration: Duration) throws -> Bool {
    let end = world.network.now + duration
    while world.network.now < end {
      try world.run(for: .milliseconds(100), stepLimit: 5_000_000)
      if isDone { return true }
    }
    return false
  }

  private var isDone: Bool {
    let hosting = hosting
    return hosting.open.count == guests.count
      && hosting.open.allSatisfy {
        hosting.senders[$0]?.isDone == true && hosting.checkers[$0]?.events == 5
      } && guests.indices.allSatisfy { isDone(guest($0)) }
  }

  private func isDone(_ guest: VirtualPeer) -> Bool {
    guest.openedAt != nil && guest.sender.isDone && guest.checker.events == 5
  }

  func expectWhole(_ note: String = "") {
    let faults = guests.indices.flatMap { guest($0).checker.faults }
    #expect(faults.isEmpty && hosting.checkers.values.allSatisfy { $0.faults.isEmpty }, "\(note)")
    #expect(hosting.endings.isEmpty, "\(note)")
  }
}

/// Hosts that share a port and know together whose a connection is.
@Suite struct HostGroupTests {
  #if DEBUG
    private static let seeds: ClosedRange<UInt64> = 1...1
  #else
    private static let seeds: ClosedRange<UInt64> = 1...20
  #endif

  @Test(arguments: seeds)
  func `links find each other wherever they arrive, and carry everything once`(
    seed: UInt64
  ) throws {
    var party = Party(seed: seed, seats: 16, guests: 16)
    #expect(try party.runLoad(for: .seconds(10)), "seed \(seed)")
    party.expectWhole("seed \(seed)")
    for index in party.guests.indices {
      let connection = party.guest(index).connection
      #expect(connection?.stream?.isJoined == true, "seed \(seed), guest \(index)")
      #expect(connection?.datagram?.isAnswered == true, "seed \(seed), guest \(index)")
    }
    let hosting = party.hosting
    #expect(hosting.opened == 16 && hosting.directory.ownerCount == 16)
    #expect(hosting.handed > 4, "most streams come to another host than the datagrams")
    #expect(hosting.members.allSatisfy { !$0.connectionIDs.isEmpty })
  }

  @Test(arguments: seeds)
  func `on a bad network too`(seed: UInt64) throws {
    let bad = LinkConditions(
      oneWay: .milliseconds(30), jitter: .uniform(.milliseconds(5)), loss: 0.05)
    var party = Party(seed: seed, members: 3, seats: 8, guests: 8, conditions: bad)
    #expect(try party.runLoad(for: .seconds(30)), "seed \(seed)")
    party.expectWhole("seed \(seed)")
    #expect(party.hosting.opened == 8)
  }

  @Test(arguments: seeds)
  func `seats are counted over all of them`(seed: UInt64) throws {
    var party = Party(seed: seed, seats: 7, guests: 20)
    try party.world.run(for: .seconds(3))
    #expect(party.hosting.mostOpen == 7 && party.hosting.open.count == 7)
    let refused = party.guests.indices.count { party.guest($0).endings == [.full] }
    #expect(refused == 13)
    // A seat that is given back is somebody's at once, on whatever host.
    for index in party.guests.indices where party.guest(index).endings.isEmpty {
      let host = party.guests[index]
      party.world.withNode(of: host) { node, network in
        node.guest?.close(in: &network)
      }
    }
    try party.world.run(for: .milliseconds(100))
    let before = party.hosting.opened
    for index in party.guests.indices where party.guest(index).endings == [.full] {
      _ = party.world.stop(party.guests[index])
      party.start(index, again: 1)
    }
    try party.world.run(for: .seconds(3))
    #expect(party.hosting.opened == before + 7 && party.hosting.mostOpen == 7)
  }

  @Test(arguments: [VirtualPeer.Links.datagram, .stream, .both])
  func `who comes back is one peer, on whatever host it was`(links: VirtualPeer.Links) throws {
    var party = Party(seed: 5, seats: 8, guests: 8, links: links)
    try party.world.run(for: .milliseconds(500))
    #expect(party.hosting.open.count == 8)
    for round in 1...3 {
      for index in party.guests.indices {
        _ = party.world.stop(party.guests[index])
        party.start(index, again: UInt64(round))
      }
      try party.world.run(for: .milliseconds(700))
      #expect(party.hosting.mostOpen == 8 && party.hosting.open.count == 8)
    }
    let replaced = party.hosting.endings.count { $0 == .replaced }
    #expect(replaced > 0 && party.hosting.opened == 8 + party.hosting.endings.count)
  }

  @Test(arguments: seeds)
  func `a new address goes on where the old one was`(seed: UInt64) throws {
    var party = Party(seed: seed, seats: 12, guests: 12)
    for _ in 0..<4 {
      try party.world.run(for: .milliseconds(230), stepLimit: 5_000_000)
      for guest in party.guests { party.world.network.rebind(guest) }
    }
    #expect(try party.runLoad(for: .seconds(10)), "seed \(seed)")
    party.expectWhole("seed \(seed)")
    #expect(party.hosting.opened == 12 && party.hosting.relayed > 0, "seed \(seed)")
  }

  @Test func `a link that comes after the end opens nothing on any host`() throws {
    let now = Instant(nanoseconds: 1_000_000_000)
    let key = ConnectionKey(prefix: 1, rest: 2)
    var directory = HostDirectory(seats: 4)
    var hosts = (0..<2).map { Host(makePeer(1), seats: 4, member: $0) }
    func ask(_ packet: ControlPacket, of member: Int) -> ConnectionID {
      let link = hosts[member].makeConnectionID()
      _ = hosts[member].accept(link, at: now)
      hosts[member].receive(packet.packet.framed().span, on: link, at: now)
      hosts[member].resolveRequests(with: &directory, at: now)
      return link
    }
    let request = ControlPacket.request(version: SessionWire.version, key, makePeer(2))
    let link = ask(request, of: 0)
    hosts[0].admit(link, at: now)
    hosts[0].resolveRequests(with: &directory, at: now)
    #expect(hosts[0].isOpen(link))
    hosts[0].handleLinkEnd(.ended, of: link, at: now)
    hosts[0].didFlush(link, at: now)
    hosts[0].resolveRequests(with: &directory, at: now)
    #expect(directory.ownerCount == 0 && directory.state(of: key) == .ended)
    for packet in [request, .join(version: SessionWire.version, key)] {
      let late = ask(packet, of: 1)
      let event = hosts[1].pollEvent()
      #expect(event == .closed(late, nil, .connectionLost, wasOpen: false))
    }
    #expect(directory.seating.free(forSpectators: false) == 4)
  }

  @Test func `a token of one of them counts with all, once`() throws {
    var party = Party(
      seed: 3, seats: 4, guests: 4, links: .datagram, load: Load(),
      conditions: LinkConditions(oneWay: .milliseconds(50)))
    try party.world.run(for: .seconds(2))
    for index in party.guests.indices {
      let token = try #require(party.guest(index).invitation)
      #expect(try party.rejoin(index, with: token) == 100)
      #expect(try party.rejoin(index, with: token) == 200)
    }
    #expect(party.hosting.mostOpen == 4 && party.hosting.open.count == 4)
  }
}
