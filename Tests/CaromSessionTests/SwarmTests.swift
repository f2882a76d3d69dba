import Carom
import CaromTesting
import Foundation
import Testing

@testable import CaromProtocol

/// Peers in matchmaking mode that start within a second of each other, on a virtual network.
struct Swarm {
  var world: VirtualWorld<SwarmNode>
  private(set) var hosts: [VirtualHost] = []

  init(seed: UInt64, count: Int, conditions: LinkConditions = .lan) {
    var generator = SeededGenerator(seed: seed)
    world = VirtualWorld(seed: generator.next(), conditions: conditions)
    for _ in 0..<count {
      let id = PeerID.random(using: &generator)
      let start = Instant.zero + generator.duration(in: .zero ... .seconds(1))
      hosts.append(
        world.add { SwarmNode(on: $0, id: id, startAt: start, generator: &generator) })
    }
  }

  func node(_ host: VirtualHost) -> SwarmNode? { world[host] }

  /// The number of peers whose partner is connected to them.
  static func seated(in world: borrowing VirtualWorld<SwarmNode>) -> Int {
    let partners = world.nodes.map { $0?.partner }
    return world.nodes.indices.count { index in
      guard let id = world.nodes[index]?.lobby.host.local.id, let partner = partners[index],
        let other = world.nodes.firstIndex(where: { $0?.lobby.host.local.id == partner })
      else { return false }
      return partners[other] == id
    }
  }

  /// Runs until as many peers as possible have a partner. Returns the time that took.
  mutating func settle(within limit: Duration = .seconds(20)) throws -> Duration? {
    let wanted = hosts.count / 2 * 2
    let done = try world.run(for: limit) { Self.seated(in: $0) == wanted }
    return done ? Instant.zero.duration(to: world.network.now) : nil
  }
}

@Suite struct SwarmTests {
  #if DEBUG
    static let seeds = 14
  #else
    static let seeds = 300
  #endif

  @Test func `peers that start together all find a partner`() throws {
    let replay = ProcessInfo.processInfo.environment["CAROM_SEED"]
    try Seeds(Self.seeds, replay: replay).check { seed in
      let count = 2 + Int(seed % 7)
      var swarm = Swarm(seed: seed, count: count)
      let time = try swarm.settle()
      #expect(time != nil, "seed \(seed), \(count) peers")
      // No peer loses its partner later.
      try swarm.world.run(for: .seconds(10))
      #expect(Swarm.seated(in: swarm.world) == count / 2 * 2, "seed \(seed) later")
    }
  }
}
