import CaromCore
import CaromNearby
import CaromSession
import CaromSessionTesting
import CaromTransport
import Testing

/// Nearby peers on the virtual network, which find each other without DNS-SD.
@Suite struct WorldTests {
  /// Runs `count` sides that join everyone, each on a host of its own, and `body` with each side
  /// once all of them listen and know of each other.
  private static func mesh(
    _ count: Int, seed: UInt64, _ conditions: LinkConditions = .lan,
    _ body: @escaping @Sendable (NearbySession, SessionWorld) async throws -> Void
  ) async throws {
    try await SessionWorld.run(seed: seed, conditions: conditions) { world in
      let yard = Yard()
      try await withThrowingTaskGroup { tasks in
        for number in 0..<count {
          let host = world.addHost()
          let start = Duration.milliseconds(Int64(world.random() % 1_000))
          tasks.addTask {
            try await world.sleep(for: start)
            let side = Nearby("peer \(number)", type: "_carom-world._udp", on: host.loop)
            try await side.run(.joinsEveryone) { nearby in
              await yard.enter(nearby, at: Endpoint(host.v4, port: nearby.port))
              try await body(nearby, world)
            }
          }
        }
        try await tasks.waitForAll()
      }
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `eight that start within a second are meshed within three`(seed: UInt64) async throws {
    let meeting = MeetingPoint(8)
    try await Self.mesh(8, seed: seed) { nearby, world in
      let peers = await nearby.joined(7)
      #expect(Set(peers.map(\.id)).count == 7)
      #expect(world.now < .zero + .seconds(3))
      await meeting.arrive()
    }
  }

  @Test(arguments: [LinkProfile.poor, .burstLoss, .reorderStorm])
  func `a mesh on a bad network has one connection for each pair`(profile: LinkProfile)
    async throws
  {
    let meeting = MeetingPoint(6)
    try await Self.mesh(6, seed: 7, profile.outbound) { nearby, world in
      let peers = await nearby.joined(5)
      #expect(Set(peers.map(\.id)).count == 5)
      await meeting.arrive()
      for peer in peers { try await peer.send(nearby.local.name, on: .lines) }
      var names: Set<String> = []
      for await line in nearby.session.messages(on: .lines) {
        #expect(line.message == line.peer.name)
        names.insert(line.message)
        if names.count == 5 { break }
      }
      await meeting.arrive()
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
