import Carom
import CaromCrypto
import CaromFleet
import TestRedis
import TestRelay
import Testing

/// Hosts of a fleet that players reach through one proxy alone.
@Suite(
  .timeLimit(.minutes(1)),
  .enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)))
struct FleetProxyTests {
  private let key = BackendKey.random()
  private static let game = GameVersion("counts", "1")

  /// Opens a host behind the proxy that sends it the datagrams with `token`. The host listens on
  /// the port that `port` returns.
  private func host(
    _ region: String, _ token: [UInt8], behind proxy: RoutingProxy, at front: Endpoint,
    in address: FleetAddress, on loop: NetworkLoop
  ) async throws -> (FleetSettings, Task<Void, any Error>) {
    let settings = FleetSettings(
      address, key: key, as: .random(), game: Self.game, advertising: [front],
      routing: try .suffix(token), region: region)
    let port = try await Self.freePort(on: loop)
    await proxy.add(token, to: Endpoint(.loopback4, port: port))
    let host = Task {
      let me = PeerInfo(name: region, application: "counts")
      try await hostCounts(in: settings, as: me, port: port, on: loop)
    }
    return (settings, host)
  }

  private static func freePort(on loop: NetworkLoop) async throws -> UInt16 {
    let port = Locked<UInt16>(0)
    try await Task(executorPreference: loop) {
      let socket = try UDPSocket(on: loop, bind: Endpoint(.loopback4, port: 0)) { _ in }
      port.withLock { $0 = socket.localEndpoint.port }
      socket.close()
    }.value
    return port.withLock { $0 }
  }

  @Test(arguments: [false, true])
  func `a match is played and goes on behind a proxy, whatever the proxy does with the bytes`(
    keepsBytes: Bool
  ) async throws {
    try await RedisServer.withLoop { server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      let proxy = RoutingProxy(.suffix, keepsBytes: keepsBytes, on: loop)
      let front = try await proxy.open()
      let (_, other) = try await host(
        "any", [1, 1, 1, 1, 1, 1, 1, 1], behind: proxy, at: front, in: address, on: loop)
      try await directory.wait { $0.hosts.count == 1 }
      let (near, first) = try await host(
        "eu-west", [2, 2, 2, 2, 2, 2, 2, 2], behind: proxy, at: front, in: address, on: loop)
      try await directory.wait { $0.hosts.count == 2 }
      let me = PeerInfo(id: .random(), name: "player", application: "counts")
      let match = try #require(MatchID("m1"))
      let token = try await placePlayers([me.id], in: match, of: Self.game, key: key, directory)[0]
      #expect(token.hosts == [front] && token.routing == near.routing)
      var isMoving = false
      let result = try await raiseCount(
        with: token, as: me, on: loop, progress: { _ in }
      ) { count in
        guard count.value >= 10, !isMoving else { return }
        isMoving = true
        Task { try await directory.drain(PeerID(of: near.identity.publicKey)) }
      }
      #expect(try #require(result).value >= 100)
      try await first.value
      let status = try await directory.status()
      #expect(status.hosts.map(\.record.region) == ["any"])
      #expect(status.hosts.map(\.record.endpoints) == [[front]])
      // The player has come to both hosts through the proxy.
      #expect(await proxy.ports >= 2)
      other.cancel()
      try await other.value
      await directory.close()
      await proxy.close()
    }
  }

  @Test func `a player whose host dies is led to the next one by a door behind the same proxy`()
    async throws
  {
    try await RedisServer.withLoop { server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      let proxy = RoutingProxy(.suffix, on: loop)
      let front = try await proxy.open()
      let (_, other) = try await host(
        "any", [1, 1, 1, 1, 1, 1, 1, 1], behind: proxy, at: front, in: address, on: loop)
      try await directory.wait { $0.hosts.count == 1 }
      let (_, dying) = try await host(
        "eu-west", [2, 2, 2, 2, 2, 2, 2, 2], behind: proxy, at: front, in: address, on: loop)
      try await directory.wait { $0.hosts.count == 2 }
      let me = PeerInfo(id: .random(), name: "player", application: "counts")
      let match = try #require(MatchID("m1"))
      let token = try await placePlayers([me.id], in: match, of: Self.game, key: key, directory)[0]
      var hasEnded = false
      let result = try await raiseCount(
        with: token, as: me, on: loop, progress: { _ in }
      ) { count in
        guard count.value >= 10, !hasEnded else { return }
        hasEnded = true
        dying.cancel()
      }
      #expect(try #require(result).value >= 100)
      try await dying.value
      #expect(try await directory.status().hosts.map(\.record.region) == ["any"])
      other.cancel()
      try await other.value
      await directory.close()
      await proxy.close()
    }
  }
}
