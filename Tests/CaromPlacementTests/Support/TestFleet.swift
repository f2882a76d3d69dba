import CaromCore
import Testing

@testable import CaromPlacement

/// A directory that a case of the table is run against, on a clock that the case advances.
protocol DirectoryUnderTest: AnyObject {
  func answer(_ command: DirectoryCommand, at now: Instant) async throws -> DirectoryAnswer
  /// Makes the directory lose all that it knows.
  func forgetEverything() async throws
}

/// The directory in memory, for tests of the rules.
final class MemoryDirectoryUnderTest: DirectoryUnderTest {
  private(set) var directory = MemoryDirectory()

  func answer(_ command: DirectoryCommand, at now: Instant) async throws -> DirectoryAnswer {
    let answer = directory.answer(command, at: now)
    guard directory.matches.count < 200 else { return answer }
    for fault in directory.faults(at: now) { Issue.record("\(command): \(fault)") }
    return answer
  }

  func forgetEverything() async throws { directory = MemoryDirectory() }
}

/// A host that a case of the table speaks for.
struct TestHost {
  let record: HostRecord
  var keys = HostKeys()
  var run: UInt64 = 1
  var connection: UInt64 = 1

  var id: PeerID { record.id }
  var sender: CommandSender { CommandSender(id, run: run, connection: connection) }

  /// The same process on its next connection.
  var reconnected: TestHost {
    TestHost(record: record, keys: keys, run: run, connection: connection + 1)
  }
  /// Another process with the same id.
  var restarted: TestHost { TestHost(record: record, keys: keys, run: run + 1) }
}

/// The commands of a case, in short.
final class TestFleet {
  let directory: any DirectoryUnderTest
  /// 30 years after the clock's origin, as a server's clock shows.
  var now = Instant.zero + .seconds(946_684_800)

  init(_ directory: any DirectoryUnderTest) { self.directory = directory }

  func advance(by duration: Duration) { now = now + duration }

  func answer(_ command: DirectoryCommand) async throws -> DirectoryAnswer {
    try await directory.answer(command, at: now)
  }

  func send(_ command: HostCommand, from host: TestHost) async throws -> DirectoryAnswer {
    try await answer(.host(command, from: host.sender))
  }

  @discardableResult
  func register(
    _ host: TestHost, isDraining: Bool = false, holding: [HeldMatch] = []
  ) async throws -> DirectoryAnswer {
    let registration = HostRegistration(
      host.record, keys: host.keys, isDraining: isDraining, holding: holding)
    return try await send(.register(registration), from: host)
  }

  /// Registers a new host, and returns it.
  func start(
    _ number: Int, region: String = "eu", game: GameVersion = .hockey, seats: Int = 8,
    keys: HostKeys = HostKeys()
  ) async throws -> TestHost {
    let host = TestHost(
      record: .make(number, region: region, game: game, seats: seats), keys: keys)
    #expect(try await register(host) == .registered(RegistrationResult()))
    return host
  }

  /// Lets the hosts renew their leases once a second for so long.
  func run(_ hosts: TestHost..., for seconds: Int) async throws {
    for _ in 0..<seconds {
      advance(by: .seconds(1))
      for host in hosts { _ = try await send(.renew(HostLoad()), from: host) }
    }
  }

  func place(
    _ match: Int, _ players: PeerID..., game: GameVersion = .hockey, near regions: [String] = []
  ) async throws -> DirectoryAnswer {
    try await place(match, players, game: game, near: regions)
  }

  func place(
    _ match: Int, _ players: [PeerID], game: GameVersion = .hockey, near regions: [String] = []
  ) async throws -> DirectoryAnswer {
    try await answer(
      .place(PlacementRequest(.match(match), players: players, game: game, near: regions)))
  }

  func locate(_ match: Int, _ player: PeerID) async throws -> DirectoryAnswer {
    try await answer(.locate(.match(match), player: player))
  }

  /// Places a match, expects it at `host`, and takes a seat there for each player.
  func play(_ match: Int, _ players: PeerID..., at host: TestHost) async throws -> MatchClaim {
    let claim = try #require(try await place(match, players).claim)
    #expect(claim.host == host.id)
    for player in players {
      #expect(try await send(.takeSeat(claim, player: player), from: host) == .done)
    }
    return claim
  }

  func status() async throws -> FleetStatus {
    try #require(try await answer(.status).statusReport)
  }

  /// The number of seats in use at a host; nil if the host has no lease.
  func seatsInUse(_ host: TestHost) async throws -> Int? {
    try await status().hosts.first { $0.record.id == host.id }?.seatsInUse
  }
}
