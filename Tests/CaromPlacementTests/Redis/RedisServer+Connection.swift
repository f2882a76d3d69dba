import CaromFleet
import CaromTransport
import TestRedis

extension RedisServer {
  /// Starts a server, runs `body` on the thread of a connection to it, and ends the server.
  static func withConnection(
    _ body: @escaping @Sendable (RedisConnection) async throws -> Void
  ) async throws {
    try await with { server in
      try await withNetworkLoop { loop in
        try await Task(executorPreference: loop) {
          let connection = try await RedisConnection.open(to: [server.endpoint], on: loop)
          try await body(connection)
          await connection.close()
        }.value
      }
    }
  }
}
