import CaromCore
import CaromCrypto
import CaromFleet
import CaromPlacement
import CaromProtocol
import CaromSession
import CaromTransport
import Synchronization
import TestRedis
import Testing

/// Players who find their match again by doors alone: they have neither the directory nor a key.
@Suite(
  .timeLimit(.minutes(1)),
  .enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)))
struct FleetFollowerTests {
  private let key = BackendKey.random()

  /// A follower and the steps that it takes.
  private struct Following {
    let player: TestPlayer
    let follower: FleetFollower
    private var steps: AsyncStream<FleetFollower.Step>.Iterator

    init(
      _ number: Int, key: BackendKey, over kinds: LinkKinds = .all, on loop: NetworkLoop
    ) {
      let (stream, taken) = AsyncStream.makeStream(of: FleetFollower.Step.self)
      steps = stream.makeAsyncIterator()
      player = TestPlayer(number, key: key)
      follower = FleetFollower(player.info, over: kinds, on: loop) { taken.yield($0) }
    }

    mutating func next() async -> FleetFollower.Step? {
      await steps.next(isolation: #isolation)
    }

    /// Joins a host, and runs `body` when the host has told its doors.
    func join(
      with token: ConnectToken, on loop: NetworkLoop, _ body: (Session) async throws -> Void
    ) async throws {
      await follower.joins(with: token)
      try await player.join(with: token, on: loop) { session, _ in
        Task { [follower] in await follower.readDoors(of: session) }
        while await follower.doors.isEmpty {
          try await loop.sleep(until: loop.now + .milliseconds(10))
        }
        try await body(session)
      }
    }
  }

  /// Places match 1 near "eu", as a matchmaker does, which is then gone.
  private func place(
    for player: TestPlayer, in address: FleetAddress, on loop: NetworkLoop
  ) async throws -> ConnectToken {
    let directory = FleetDirectory(address, on: loop)
    let request = PlacementRequest(1, players: 1, near: "eu")
    let token = try player.token(for: try await directory.place(request).get())
    await directory.close()
    return token
  }

  @Test func `a player who hears nothing from a host that has the match joins it again`()
    async throws
  {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let leo = Following(1, key: key, on: loop)
      try await TestTable.with("one", in: address, key: key, on: loop) { one in
        let token = try await place(for: leo.player, in: address, on: loop)
        try await leo.join(with: token, on: loop) { _ in
          // Nobody tells the follower that the host is heard.
          var steps = leo
          guard case .join(let next)? = await steps.next() else {
            Issue.record("the player stays at a host that is silent")
            return
          }
          #expect(next.hosts == one.record.endpoints && next.bytes != token.bytes)
        }
      }
      await leo.follower.end()
    }
  }

  @Test func `a player whose host dies is led by a door to the host that takes the match over`()
    async throws
  {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let relay = CuttableRelay(to: server.endpoint, on: loop)
      let cut = try FleetAddress("redis://\(try await relay.listen())/test")
      var leo = Following(1, key: key, on: loop)
      try await TestTable.with("other", in: address, key: key, region: "us", on: loop) { other in
        try await TestTable.with("dying", in: cut, key: key, on: loop) { dying in
          let token = try await place(for: leo.player, in: address, on: loop)
          #expect(token.hosts == dying.record.endpoints)
          try await leo.join(with: token, on: loop) { _ in
            let doors = other.record.doors + dying.record.doors
            #expect(await leo.follower.doors == doors)
            let checkpoint = try #require(Checkpoint(tick: 5, state: [5]))
            try await dying.wait(for: .began(.match(1), nil, players: [.player(1)]))
            await dying.matches.save(checkpoint, of: .match(1), isUrgent: true)
            // The answer to this comes after the checkpoint has arrived.
            #expect(try await dying.matches.membership.findDoors() == doors)
            // The directory hears of the host no more, and the player neither.
            await relay.cut()
            guard case .join(let next)? = await leo.next() else {
              Issue.record("the player was not led anywhere")
              return
            }
            #expect(next.hosts == other.record.endpoints)
            try await other.wait(
              for: .began(.match(1), checkpoint, players: [.player(1)]))
            try await leo.join(with: next, on: loop) { _ in
              let peer = try await other.joined()
              #expect(peer.id == .player(1))
              await other.matches.finish(.match(1), result: [3])
              #expect(await leo.next() == .over)
            }
          }
          await leo.follower.end()
          await relay.heal()
        }
      }
      await relay.close()
    }
  }

  @Test func `a player who has lost its host alone is led back to it`() async throws {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      var leo = Following(1, key: key, on: loop)
      try await TestTable.with("host", in: address, key: key, on: loop) { host in
        let token = try await place(for: leo.player, in: address, on: loop)
        try await leo.join(with: token, on: loop) { _ in }
        await leo.follower.lostHost()
        guard case .join(let second)? = await leo.next() else {
          Issue.record("the player was not led anywhere")
          return
        }
        #expect(second.hosts == host.record.endpoints && second != token)
        try await leo.join(with: second, on: loop) { _ in }
        await leo.follower.end()
      }
    }
  }

  /// A player who is at a host, by contrast, stays there until a second door has said so.
  @Test func `a player who has lost its host goes where the first answer says`() async throws {
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      var leo = Following(1, key: key, over: .datagram, on: loop)
      try await TestTable.with("host", in: address, key: key, on: loop) { host in
        var tokens: [ConnectToken] = []
        for _ in 0..<3 { tokens.append(try await place(for: leo.player, in: address, on: loop)) }
        try await leo.join(with: tokens[0], on: loop) { _ in }
        let answers = Mutex(tokens[1...])
        await host.session.answerQuestions { question in
          guard let token = answers.withLock({ $0.popFirst() }) else { return }
          question.answer(Goodbye(movedTo: NextHost(at: token.hosts, token: token)))
        }
        await leo.follower.lostHost()
        #expect(await leo.next() == .join(tokens[1]))
        await leo.follower.end()
      }
    }
  }

  @Test func `a player who has lost its host and knows no door gives up at once`() async {
    await withNetworkLoop { [key] loop in
      var leo = Following(1, key: key, on: loop)
      await leo.follower.lostHost()
      #expect(await leo.next() == .giveUp(nil))
      await leo.follower.end()
    }
  }
}
