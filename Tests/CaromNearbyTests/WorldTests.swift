import CaromCore
import CaromNearby
import CaromSession
import CaromSessionTesting
import CaromTransport
import Foundation
import Testing

/// Nearby peers on the virtual network, which find each other without DNS-SD.
@Suite struct WorldTests {
  /// Networks with loss or reordering, each with the seed of a run. The gate has one run;
  /// `make soak` sets `CAROM_SEEDS` to the number of runs.
  private static let badNetworks: [(profile: LinkProfile, seed: UInt64)] = {
    let count = ProcessInfo.processInfo.environment["CAROM_SEEDS"].flatMap { UInt64($0) } ?? 1
    let profiles: [LinkProfile] = [.poor, .burstLoss, .reorderStorm]
    return (1...count).map { (profiles[Int($0 % 3)], $0) }
  }()

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `eight that start within a second are meshed within three`(seed: UInt64) async throws {
    let meeting = MeetingPoint(8)
    try await runMesh(8, seed: seed) { side in
      let peers = await side.nearby.joined(7)
      #expect(Set(peers.map(\.id)).count == 7)
      #expect(side.world.now < .zero + .seconds(3))
      await meeting.arrive()
    }
  }

  @Test(arguments: [LinkProfile.poor, .burstLoss, .reorderStorm])
  func `a mesh on a bad network has one connection for each pair`(profile: LinkProfile)
    async throws
  {
    let meeting = MeetingPoint(6)
    try await runMesh(6, seed: 7, profile.outbound) { side in
      let nearby = side.nearby
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

  @Test(arguments: badNetworks)
  func `thirty-two on a bad network have one connection for each pair`(
    profile: LinkProfile, seed: UInt64
  ) async throws {
    let count = 32
    let meeting = MeetingPoint(count)
    try await runMesh(count, seed: seed, profile.outbound) { side in
      let nearby = side.nearby
      let peers = await nearby.joined(count - 1)
      #expect(Set(peers.map(\.id)).count == count - 1)
      #expect(!peers.contains { $0.id == nearby.local.id })
      await meeting.arrive()
      #expect(await nearby.session.peers.count == count - 1)
      await meeting.arrive()
    }
  }
}
