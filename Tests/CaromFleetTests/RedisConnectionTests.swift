import CaromCore
import CaromFleet
import CaromPlacement
import CaromTransport
import Synchronization
import TestRedis
import Testing

extension RedisConnection {
  /// Sends a command so often before the loop writes anything, and returns how often it is refused.
  fileprivate func countRefusals(of command: [UInt8], count: Int) -> Int {
    let refusals = Mutex(0)
    for _ in 0..<count {
      send(command) { answer in
        if case .failure = answer { refusals.withLock { $0 += 1 } }
      }
    }
    return refusals.withLock { $0 }
  }
}

@Suite(.timeLimit(.minutes(1))) struct RedisConnectionTests {
  private static func makeSave(_ state: Int) throws -> [UInt8] {
    let host = PeerID.player(1)
    let checkpoint = Checkpoint(tick: 1, state: [UInt8](repeating: 7, count: state))
    let save = HostCommand.save(
      MatchClaim(.match(1), host: host, number: 1), try #require(checkpoint))
    let sender = CommandSender(host, run: 1, connection: 1)
    return RedisCommand.encode(.host(save, from: sender), fleet: .match(0))
  }

  /// When a directory is back after an absence, a host has a checkpoint of each match for it.
  @Test func `the longest checkpoints of all matches of a host can be sent at once`() async throws {
    try await withNetworkLoop { loop in
      let server = AnsweringServer("", on: loop)
      let connection = try await RedisConnection.open(to: [try await server.listen()], on: loop)
      let save = try Self.makeSave(Checkpoint.maximumLength)
      let refused = await connection.countRefusals(of: save, count: PlacementRules.matchLimit)
      #expect(refused == 0)
      await connection.close()
      await server.close()
    }
  }

  @Test func `what does not fit into the queue to a directory is refused`() async throws {
    try await withNetworkLoop { loop in
      let server = AnsweringServer("", on: loop)
      let connection = try await RedisConnection.open(to: [try await server.listen()], on: loop)
      let save = try Self.makeSave(0)
      #expect(await connection.countRefusals(of: save, count: RedisConnection.commandLimit) == 0)
      await #expect(throws: RedisError.tooManyCommands) { try await connection.send(save) }
      await connection.close()
      await server.close()
    }
  }
}
