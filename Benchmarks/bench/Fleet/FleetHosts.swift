import CaromCore
import CaromCrypto
import CaromFleet
import CaromPlacement
import CaromTransport
import Foundation
import TestRedis

/// The hosts of a fleet, which speak to the directory over one connection.
struct FleetHosts: Sendable {
  /// How many hosts there are.
  static let count = 100
  /// How many tasks use the directory at the same time.
  private static let tasks = 64
  static let game = GameVersion("bench", "1")

  let directory: FleetDirectory
  private let senders: [CommandSender]

  /// Registers the hosts.
  init(in address: FleetAddress, on loop: NetworkLoop) async throws {
    directory = FleetDirectory(address, on: loop)
    let records = (0..<Self.count).map { Self.record($0) }
    senders = records.map { CommandSender($0.id, run: 1, connection: 1) }
    for (record, sender) in zip(records, senders) {
      let registration = HostRegistration(record)
      _ = try await directory.answer(.host(.register(registration), from: sender))
    }
  }

  /// The record of a host; the same number makes the same host.
  static func record(_ number: Int) -> HostRecord {
    var generator = SeededGenerator(seed: UInt64(number))
    return HostRecord(
      key: Identity(using: &generator).publicKey,
      endpoints: [Endpoint(.v4(0x0A00_0001 + UInt32(number)), port: 7_777)], region: "eu",
      game: game, seats: HostRecord.seatLimit)
  }

  static func request(_ match: Int) -> PlacementRequest {
    let name = UUID(
      uuid: (
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(truncatingIfNeeded: match >> 16),
        UInt8(truncatingIfNeeded: match >> 8), UInt8(truncatingIfNeeded: match)
      ))
    let players = [1, 2].map { PeerID(high: UInt64($0), low: UInt64(match)) }
    return PlacementRequest(MatchID(name.uuidString)!, players: players, game: game, near: ["eu"])
  }

  /// The checkpoint of a match: as long as the state of air hockey.
  static func checkpoint(_ tick: UInt64) -> Checkpoint {
    Checkpoint(tick: tick, state: [UInt8](repeating: UInt8(truncatingIfNeeded: tick), count: 89))!
  }

  /// Runs `body` while the hosts renew their leases each second.
  func renewing<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask {
        while (try? await Task.sleep(for: PlacementRules.renewalInterval)) != nil {
          for sender in senders {
            _ = try await directory.answer(.host(.renew(HostLoad()), from: sender))
          }
        }
        return nil
      }
      group.addTask { try await body() }
      defer { group.cancelAll() }
      while let value = try await group.next() {
        if let value { return value }
      }
      throw BenchmarkFailure("the measurement has ended without a result")
    }
  }

  /// Runs `body` with a new server, on the thread of a new loop.
  static func withServer<Value: Sendable>(
    _ body: @escaping @Sendable (RedisServer, NetworkLoop) async throws -> Value
  ) async throws -> Value {
    try await RedisServer.with { server in
      try await withNetworkLoop { loop in
        try await Task(executorPreference: loop) { try await body(server, loop) }.value
      }
    }
  }

  /// Calls `body` with the numbers of all matches, for 64 of them at the same time.
  static func concurrently<Value: Sendable>(
    _ matches: Int, _ body: @escaping @Sendable (Int) async throws -> Value
  ) async throws -> [Int: Value] {
    try await withThrowingTaskGroup(of: [Int: Value].self) { group in
      for first in 0..<tasks {
        group.addTask {
          var values: [Int: Value] = [:]
          for match in stride(from: first, to: matches, by: tasks) {
            values[match] = try await body(match)
          }
          return values
        }
      }
      return try await group.reduce(into: [:]) { $0.merge($1) { value, _ in value } }
    }
  }

  func place(_ match: Int) async throws -> MatchClaim {
    try await directory.place(Self.request(match)).get().claim
  }

  /// Has both players of a match take their seats, and stores a checkpoint.
  func play(_ match: Int, _ claim: MatchClaim) async throws {
    guard let sender = senders.first(where: { $0.host == claim.host }) else { return }
    for player in Self.request(match).players {
      _ = try await directory.answer(.host(.takeSeat(claim, player: player), from: sender))
    }
    _ = try await directory.answer(.host(.save(claim, Self.checkpoint(1)), from: sender))
  }
}

/// What a server tells about itself.
struct FleetServerInfo: Sendable {
  private let text: String

  init(of server: RedisServer, on loop: NetworkLoop) async throws {
    text = try await Self.send("INFO", to: server, on: loop)
  }

  /// Sends a command whose answer is a text.
  static func send(
    _ words: String..., to server: RedisServer, on loop: NetworkLoop
  ) async throws -> String {
    let connection = try await RedisConnection.open(to: [server.endpoint], on: loop)
    let command = RESPValue.array(words.map { .bulkString(Array($0.utf8)) })
    let answer = try await connection.send(command.encoded)
    await connection.close()
    guard case .bulkString(let bytes) = answer else {
      throw BenchmarkFailure("\(words[0]): \(answer)")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The length of the text in bytes.
  var length: Int { text.utf8.count }

  /// Returns a number, such as `used_memory`.
  func number(_ name: String) throws -> Double {
    let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("\(name):") }
    guard let line, let number = Double(line.dropFirst(name.count + 1)) else {
      throw BenchmarkFailure("INFO has no \(name)")
    }
    return number
  }
}
