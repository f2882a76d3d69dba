import CaromCore
import CaromTesting
import Testing

@Suite struct VirtualWorldTests {
  @Test func `nodes receive their events and timeouts`() throws {
    var world = makeGossip(seed: 1, count: 4)
    try world.run(for: .seconds(5))
    #expect(world.network.now == .zero + .seconds(5))
    for case let node? in world.nodes { #expect(node.received.count == 4) }
  }

  @Test func `a run ends when its condition is met`() throws {
    var world = makeGossip(seed: 1, count: 4)
    let isDone = try world.run(for: .seconds(60)) { world in
      world.nodes.allSatisfy { ($0?.received.count ?? 0) == 4 }
    }
    #expect(isDone)
    #expect(world.network.now < .zero + .seconds(2))
  }

  @Test func `equal seeds give equal traces, different seeds do not`() throws {
    let stories = try ([5, 5, 6] as [UInt64]).map { seed in
      var world = makeGossip(seed: seed, count: 8)
      world.network.trace = Trace()
      try world.run(for: .seconds(3))
      return try #require(world.network.trace).lines
    }
    #expect(stories[0] == stories[1])
    #expect(stories[0] != stories[2])
    #expect(stories[0].count > 50)
  }

  @Test func `a copy of a world runs independently`() throws {
    var world = makeGossip(seed: 9, count: 5)
    try world.run(for: .milliseconds(700))
    var copy = world
    try world.run(for: .seconds(3))
    try copy.run(for: .seconds(3))
    #expect(world.network.counters == copy.network.counters)
    #expect(world.nodes == copy.nodes)
  }

  @Test func `a timeout that remains due exceeds the step limit`() {
    var world = VirtualWorld<NeverIdle>(seed: 1)
    world.add { _ in NeverIdle() }
    #expect(throws: StepLimitExceeded(limit: 100, at: .zero)) {
      try world.run(for: .seconds(1), stepLimit: 100)
    }
  }

  @Test func `a stopped node receives nothing, and its host can start another`() throws {
    var world = makeGossip(seed: 2, count: 3)
    let host = world.network.hosts[1]
    try world.run(for: .seconds(2))
    #expect(world.stop(host)?.received.count == 3)
    world.network.kill(host)
    try world.run(for: .seconds(2))
    #expect(world[host] == nil)
    world.start(Gossip(host: host), on: host)
    try world.run(for: .seconds(3))
    #expect(world[host]?.received.count == 3)
  }

  @Test func `a thousand worlds of eight hosts give the same result twice`() throws {
    #if DEBUG
      let count = 30
    #else
      let count = 1_000
    #endif
    try Seeds(count).check { seed in
      var world = makeGossip(seed: seed, count: 8)
      try world.run(for: .seconds(10))
      for case let node? in world.nodes where node.received.count != 8 {
        throw Missing(received: node.received)
      }
    }
  }
}

/// The error of a node that did not receive from all others.
struct Missing: Error {
  let received: [IPAddress]
}

/// A node that sends a greeting to a multicast group once a second and collects the senders of
/// others.
struct Gossip: VirtualNode, Equatable {
  static let group = Endpoint(.v4(0xE000_00FB), port: 5353)
  let host: VirtualHost
  var received: [IPAddress] = []
  var socket: VirtualSocket?
  var nextTimeout: Instant?

  init(host: VirtualHost) { self.host = host }

  mutating func start(in network: inout VirtualNetwork) {
    let socket = network.bind(host, port: Self.group.port)
    network.join(Self.group.address, on: socket)
    self.socket = socket
    nextTimeout = network.now + .milliseconds(100 * host.id.number)
  }

  mutating func handle(_ event: VirtualEvent, in network: inout VirtualNetwork) {
    guard case .datagram(let datagram, _) = event,
      !received.contains(datagram.source.address)
    else { return }
    received.append(datagram.source.address)
  }

  mutating func handleTimeout(in network: inout VirtualNetwork) {
    guard let socket else { return }
    network.send([1], from: socket, to: Self.group)
    nextTimeout = network.now + .seconds(1)
  }
}

/// A node whose timeout is always due.
struct NeverIdle: VirtualNode {
  var nextTimeout: Instant? { .zero }
  mutating func handle(_ event: VirtualEvent, in network: inout VirtualNetwork) {}
}

func makeGossip(seed: UInt64, count: Int) -> VirtualWorld<Gossip> {
  var world = VirtualWorld<Gossip>(seed: seed, conditions: .wifi)
  for _ in 0..<count { world.add { Gossip(host: $0) } }
  return world
}
