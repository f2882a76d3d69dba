import CaromSessionTesting
import Testing

@testable import TugOfWar

/// The match of the example on a virtual network: its time passes without waiting, and its seed
/// repeats a run.
@Suite struct TugOfWarTests {
  private static let maya = PeerInfo(
    id: PeerID(high: 1, low: 1), name: "Maya", application: "tug-of-war")
  private static let leo = PeerInfo(
    id: PeerID(high: 2, low: 2), name: "Leo", application: "tug-of-war")

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `the stronger player wins on a mobile network`(seed: UInt64) async throws {
    try await SessionWorld.run(seed: seed) { world in
      let (server, client) = (world.addHost(), world.addHost())
      world.setProfile(.mobile, from: client, to: server)
      try await Session.host(as: Self.maya, loop: server.loop) { session, port in
        async let _ = Program.serve(session, on: server.loop)
        let start = server.loop.now
        let winner = try await Session.join(
          [Endpoint(server.v4, port: port)], as: Self.leo, retrying: RetryPolicy(attempts: 8),
          loop: client.loop
        ) { session, host in try await Program.play(session, with: host) }
        #expect(winner == 1)
        // The players' difference of 5 needs 200 ticks for 1,000.
        #expect(server.loop.now - start > .seconds(3))
      }
    }
  }
}
