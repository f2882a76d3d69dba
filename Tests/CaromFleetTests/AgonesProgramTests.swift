import Carom
import CaromCrypto
import CaromFleet
import TestAgones
import TestRedis
import Testing

/// The program of the page Fleets for a host under Agones.
@Suite(
  .timeLimit(.minutes(1)),
  .enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)))
struct AgonesProgramTests {
  @Test func `a host registers where Agones says that it is, and is reported until it ends`()
    async throws
  {
    try await RedisServer.withLoop { server, loop in
      let address = try server.address()
      var object = AgonesObject()
      object.ports = [("game", 9_999)]
      let standIn = AgonesStandIn(object, on: loop)
      let sidecar = AgonesSidecar(port: try await standIn.listen())
      let (key, identity) = (BackendKey.random(), Identity.random())
      try await hostUnderAgones(
        sidecar, as: PeerInfo(name: "host", application: "counts"), port: 0, on: loop
      ) { endpoints in
        FleetSettings(
          address, key: key, as: identity, game: GameVersion("counts", "1"), advertising: endpoints)
      } run: { session, matches in
        await standIn.waitForServer { $0.state == "Ready" }
        let directory = FleetDirectory(address, on: loop)
        var hosts: [HostRecord] = []
        try await directory.wait { status in
          hosts = status.hosts.map(\.record)
          return !hosts.isEmpty
        }
        #expect(hosts.map(\.id) == [PeerID(of: identity.publicKey)])
        #expect(hosts[0].endpoints == [Endpoint(.loopback4, port: 9_999)])
        await directory.close()
      }
      #expect(await standIn.server.state == "Shutdown")
      #expect(await standIn.complaints == [])
      await standIn.close()
    }
  }
}
