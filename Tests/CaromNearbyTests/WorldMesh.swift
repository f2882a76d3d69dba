import CaromCore
import CaromNearby
import CaromSession
import CaromSessionTesting
import CaromTransport

/// One side of a mesh on the virtual network.
struct WorldSide: Sendable {
  let nearby: NearbySession
  let world: SessionWorld
  /// The number of the side, from 0.
  let number: Int
  /// The hosts of all sides, by their numbers.
  let hosts: [SessionWorld.Host]
}

/// Runs `count` sides that join everyone, each on a host of its own, and `body` with each side
/// once it listens. They start within a second, and know of each other.
func runMesh(
  _ count: Int, seed: UInt64, _ conditions: LinkConditions = .lan,
  _ body: @escaping @Sendable (WorldSide) async throws -> Void
) async throws {
  try await SessionWorld.run(seed: seed, conditions: conditions) { world in
    let yard = Yard()
    let hosts = (0..<count).map { _ in world.addHost() }
    try await withThrowingTaskGroup { tasks in
      for number in 0..<count {
        let start = Duration.milliseconds(Int64(world.random() % 1_000))
        tasks.addTask {
          try await world.sleep(for: start)
          let host = hosts[number]
          let side = Nearby("peer \(number)", type: "_carom-world._udp", on: host.loop)
          try await side.run(.joinsEveryone) { nearby in
            await yard.enter(nearby, at: Endpoint(host.v4, port: nearby.port))
            try await body(
              WorldSide(nearby: nearby, world: world, number: number, hosts: hosts))
          }
        }
      }
      try await tasks.waitForAll()
    }
  }
}

/// The sides of a world, each of which learns of all others.
private actor Yard {
  private var sides: [(nearby: NearbySession, endpoint: Endpoint)] = []

  func enter(_ nearby: NearbySession, at endpoint: Endpoint) async {
    let others = sides
    sides.append((nearby, endpoint))
    for other in others {
      await nearby.add(other.nearby.description, at: [other.endpoint])
      await other.nearby.add(nearby.description, at: [endpoint])
    }
  }
}

extension NearbySession {
  fileprivate var description: NearbyPeer { NearbyPeer(id: local.id, name: local.name) }
}
