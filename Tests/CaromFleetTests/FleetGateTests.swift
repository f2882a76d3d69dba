import CaromCrypto
import CaromFleet
import TestRedis
import Testing

@Suite(
  .timeLimit(.minutes(1)),
  .enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)))
struct FleetGateTests {
  private let key = BackendKey.random()

  @Test func `a gate is open while its host has a lease and does not drain`() async throws {
    #expect(FleetGate().closure == .noLease)
    try await RedisServer.withLoop { [key] server, loop in
      let address = try server.address()
      let gate = try await TestTable.with("one", in: address, key: key, on: loop) { table in
        #expect(table.gate.closure == nil)
        return table.gate
      }
      // The host has left its fleet.
      #expect(gate.closure == .noLease)
      try await TestTable.with("two", in: address, key: key, on: loop) { table in
        await table.matches.drain()
        #expect(table.gate.closure == .draining)
      }
    }
  }
}
