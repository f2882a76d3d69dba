import CaromCore
import CaromCrypto
import CaromFleet
import CaromPlacement
import CaromTransport
import TestRedis
import Testing

extension RedisServer {
  /// Starts a server with these further options, and runs `body` on the thread of a new loop.
  static func withLoop(
    _ options: String...,
    body: @escaping @Sendable (RedisServer, NetworkLoop) async throws -> Void
  ) async throws {
    let server = try RedisServer(options)
    defer { server.stop() }
    try await withNetworkLoop { loop in
      try await Task(executorPreference: loop) { try await body(server, loop) }.value
    }
  }

  func address(login: String = "") throws -> FleetAddress {
    try FleetAddress(fleet(login: login))
  }
}

extension FleetDirectory {
  /// Waits until the status of the fleet is as `isWanted` says. Hosts tell the directory on
  /// connections of their own, and it tells nobody what has changed.
  nonisolated func wait(until isWanted: (FleetStatus) -> Bool) async throws {
    while try await !isWanted(self.status()) {
      try await loop.sleep(until: loop.now + .milliseconds(20))
    }
  }
}

extension GameVersion {
  static let hockey = GameVersion("air-hockey", "1")
}

extension PeerID {
  /// A player for tests.
  static func player(_ number: Int) -> PeerID { PeerID(high: 7, low: UInt64(number)) }
}

extension MatchID {
  /// A match for tests.
  static func match(_ number: Int) -> MatchID { MatchID("match-\(number)")! }
}

extension PlacementRequest {
  /// A request for a match of air hockey.
  init(_ match: Int, players: Int..., near regions: String...) {
    self.init(
      .match(match), players: players.map(PeerID.player), game: .hockey, near: regions)
  }
}

extension HostRecord {
  /// The record of a host for tests: the same number makes the same host.
  static func make(_ number: Int, region: String = "eu", seats: Int = 8) -> HostRecord {
    var generator = SeededGenerator(seed: UInt64(number))
    let endpoint = Endpoint(.v4(0x7F01_0000 + UInt32(number)), port: 7_777)
    return HostRecord(
      key: Identity(using: &generator).publicKey, endpoints: [endpoint], region: region,
      game: .hockey, seats: seats)
  }
}

/// A host of a fleet, and what it has told.
final class TestHost {
  let membership: FleetMembership
  private(set) var events: [FleetMembership.Event] = []
  private var iterator: AsyncStream<FleetMembership.Event>.Iterator

  /// Registers a host, and waits until it has a lease.
  init(_ record: HostRecord, in address: FleetAddress, on loop: NetworkLoop) async throws {
    membership = FleetMembership(of: record, in: address, keys: [], on: loop)
    iterator = membership.events.makeAsyncIterator()
    await membership.join()
    try await wait(for: .host(.registered))
  }

  /// Waits until the host tells `event`, after all that it has told so far.
  func wait(for event: FleetMembership.Event) async throws {
    try await wait { $0 == event ? () : nil }
  }

  /// Waits for the first event for which `choose` has a result.
  @discardableResult
  func wait<Result>(
    _ choose: (FleetMembership.Event) -> Result?
  ) async throws -> Result {
    while let next = await iterator.next(isolation: #isolation) {
      events.append(next)
      if let result = choose(next) { return result }
    }
    return try #require(nil, "the host has left the fleet: \(events)")
  }

  /// Waits until the host has a match to begin or to go on with.
  func waitForMatch(
    _ match: MatchID
  ) async throws -> (claim: MatchClaim, checkpoint: Checkpoint?, players: [PeerID]) {
    try await wait { event in
      guard case .host(.assigned(let claim, let checkpoint, let players)) = event,
        claim.match == match
      else { return nil }
      return (claim, checkpoint, players)
    }
  }

  /// Reads the events until the host has left the fleet.
  func readAll() async {
    while let next = await iterator.next(isolation: #isolation) { events.append(next) }
  }

  /// How often the directory was told to be away, and to be back.
  var absences: (away: Int, back: Int) {
    var counts = (away: 0, back: 0)
    for event in events {
      switch event {
      case .away: counts.away += 1
      case .back: counts.back += 1
      case .host: break
      }
    }
    return counts
  }
}
