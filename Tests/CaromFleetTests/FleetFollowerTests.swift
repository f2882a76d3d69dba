import CaromCore
import CaromCrypto
import CaromFleet
import CaromPlacement
import CaromTransport
import TestRedis
import Testing

/// A player who finds its match again when the host is gone.
@Suite(
  .timeLimit(.minutes(1)),
  .enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)))
struct FleetFollowerTests {
  private let key = BackendKey.random()

  /// A follower and the steps that it takes.
  private struct Following {
    let follower: FleetFollower
    private var steps: AsyncStream<FleetFollower.Step>.Iterator

    init(_ directory: FleetDirectory, key: BackendKey) {
      let (stream, taken) = AsyncStream.makeStream(of: FleetFollower.Step.self)
      steps = stream.makeAsyncIterator()
      follower = FleetFollower(
        .player(1), in: .match(1), of: .hockey, directory: directory, key: key
      ) { taken.yield($0) }
    }

    mutating func next() async -> FleetFollower.Step? {
      await steps.next(isolation: #isolation)
    }
  }

  @Test func `a player whose host dies is led to the host that takes the match over`()
    async throws
  {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let relay = CuttableRelay(to: server.endpoint, on: loop)
      let cut = try FleetAddress("redis://\(try await relay.listen())/test")
      let directory = FleetDirectory(address, on: loop)
      let dying = try await TestHost(.make(1), in: cut, on: loop)
      var player = Following(directory, key: key)
      let token = try await player.follower.place().get()
      #expect(token.hosts == dying.membership.record.endpoints)
      let claim = try await dying.waitForMatch(.match(1)).claim
      #expect(token.open(with: key)?.data == claim.encoded)
      #expect(await dying.membership.admit(.player(1), with: claim) == .accepted)
      await dying.membership.save(Checkpoint(tick: 5, state: [5])!, of: .match(1), isUrgent: true)
      let other = try await TestHost(.make(2), in: address, on: loop)
      // The follower hears nothing any more.
      await relay.cut()
      guard case .join(let next)? = await player.next() else {
        Issue.record("the player was not led anywhere")
        return
      }
      #expect(next.hosts == other.membership.record.endpoints)
      let taken = try await other.waitForMatch(.match(1))
      #expect(taken.checkpoint == Checkpoint(tick: 5, state: [5]))
      #expect(next.open(with: key)?.data == taken.claim.encoded)
      // While the player hears from the host, it is not led elsewhere.
      await player.follower.heard()
      #expect(await other.membership.admit(.player(1), with: taken.claim) == .accepted)
      await other.membership.finish(.match(1), result: [3])
      #expect(await player.next() == .over(result: [3]))
      await player.follower.end()
      for host in [dying, other] { await host.membership.withdraw() }
      await directory.close()
      await relay.close()
    }
  }

  @Test func `a player who has lost its host alone is led back to it`() async throws {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let directory = FleetDirectory(address, on: loop)
      let host = try await TestHost(.make(1), in: address, on: loop)
      var player = Following(directory, key: key)
      let first = try await player.follower.place().get()
      await player.follower.lostHost()
      guard case .join(let second)? = await player.next() else {
        Issue.record("the player was not led anywhere")
        return
      }
      #expect(second.hosts == host.membership.record.endpoints && second != first)
      await player.follower.end()
      await host.membership.withdraw()
      await directory.close()
    }
  }

  @Test func `a match that no host can run is refused at once`() async throws {
    try await RedisServer.withLoop { [key] server, loop in
      let directory = FleetDirectory(try server.address(), on: loop)
      let player = Following(directory, key: key)
      #expect(try await player.follower.place() == .failure(.noSuchVersion))
      await directory.close()
    }
  }
}
