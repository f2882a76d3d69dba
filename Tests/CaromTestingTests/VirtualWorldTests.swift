import CaromCore
import CaromTesting
import Testing

@Suite struct VirtualWorldTests {
  @Test func `nodes get their events and their timeouts`() throws {
    var world = makeGossip(seed: 1, count: 4)
    try world.run(for: .seconds(5))
    #expect(world.network.now == .zero + .seconds(5))
    for case let node? in world.nodes { #expect(node.heard.count == 4) }
  }

  @Test func `a run ends where its condition holds`() throws {
    var world = makeGossip(seed: 1, count: 4)
    let isDone = try world.run(for: .seconds(60)) { world in
      world.nodes.allSatisfy { ($0?.heard.count ?? 0) == 4 }
    }
    #expect(isDone)
    #expect(world.network.now < .zero + .seconds(2))
  }

  @Test func `one seed is one story, another seed another`() throws {
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

  @Test func `a copy of a world goes on by itself`() throws {
    var world = makeGossip(seed: 9, count: 5)
    try world.run(for: .milliseconds(700))
    var copy = world
    try world.run(for: .seconds(3))
    try copy.run(for: .seconds(3))
    #expect(world.network.counters == copy.network.counters)
    #expect(world.nodes == copy.nodes)
  }

  @Test func `a timeout that stays due is found`() {
    var world = VirtualWorld<Restless>(seed: 1)
    world.add { _ in Restless() }
    #expect(throws: StepLimitExceeded(limit: 100, at: .zero)) {
      try world.run(for: .seconds(1), stepLimit: 100)
    }
  }

  @Test func `a stopped node hears nothing, and its host may run another`() throws {
    var world = makeGossip(seed: 2, count: 3)
    let host = world.network.hosts[1]
    try world.run(for: .seconds(2))
    #expect(world.stop(host)?.heard.count == 3)
    world.network.kill(host)
    try world.run(for: .seconds(2))
    #expect(world[host] == nil)
    world.start(Gossip(host: host), on: host)
    try world.run(for: .seconds(3))
    #expect(world[host]?.heard.count == 3)
  }

  @Test func `a thousand runs of eight hosts agree with themselves`() throws {
    #if DEBUG
      let count = 30
    #else
      let count = 1_000
    #endif
    try Seeds(count).check { seed in
      var world = makeGossip(seed: seed, count: 8)
      try world.run(for: .seconds(10))
      for case let node? in world.nodes where node.heard.count != 8 {
        throw Missing(heard: node.heard)
      }
    }
  }
}

/// Somebody was not heard.
struct Missing: Error {
  let heard: [IPAddress]
}

/// Says hello to a group once a second and collects who else does.
struct Gossip: VirtualNode, Equatable {
  static let group = Endpoint(.v4(0xE000_00FB), port: 5353)
  let host: VirtualHost
  var heard: [IPAddress] = []
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
      !heard.contains(datagram.source.address)
    else { return }
    heard.append(datagram.source.address)
  }

  mutating func handleTimeout(in network: inout VirtualNetwork) {
    guard let socket else { return }
    network.send([1], from: socket, to: Self.group)
    nextTimeout = network.now + .seconds(1)
  }
}

/// Never content.
struct Restless: VirtualNode {
  var nextTimeout: Instant? { .zero }
  mutating func handle(_ event: VirtualEvent, in network: inout VirtualNetwork) {}
}

func makeGossip(seed: UInt64, count: Int) -> VirtualWorld<Gossip> {
  var world = VirtualWorld<Gossip>(seed: seed, conditions: .wifi)
  for _ in 0..<count { world.add { Gossip(host: $0) } }
  return world
}
