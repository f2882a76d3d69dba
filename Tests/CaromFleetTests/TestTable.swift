import CaromCore
import CaromCrypto
import CaromFleet
import CaromPlacement
import CaromProtocol
import CaromSession
import CaromTransport
import TestRedis
import Testing

/// A host of a fleet with a session on loopback, and what has happened to its matches.
final class TestTable {
  let session: Session
  let matches: FleetMatches
  let record: HostRecord
  let gate: FleetGate
  private(set) var events: [FleetMatches.Event] = []
  private var iterator: AsyncStream<FleetMatches.Event>.Iterator

  /// Runs `body` with a host that has joined the fleet, or is about to if it may not be let in.
  static func with<Result>(
    _ name: String, in address: FleetAddress, key: BackendKey, as identity: Identity = .random(),
    region: String = "eu", seats: Int = 8, takesOneMatch: Bool = false, isLetIn: Bool = true,
    on loop: NetworkLoop,
    _ body: (TestTable) async throws -> Result
  ) async throws -> Result {
    let gate = FleetGate(takesOneMatch: takesOneMatch)
    return try await Session.host(
      as: PeerInfo(name: name, application: "hockey"), on: [.loopback4], seats: seats,
      security: .token(keys: [key], as: identity), loop: loop, admit: { gate.admit($0) }
    ) { session, port in
      let record = HostRecord(
        key: identity.publicKey, endpoints: [Endpoint(.loopback4, port: port)], region: region,
        game: .hockey, seats: seats)
      let table = try await TestTable(
        record, session, gate, in: address, key: key, isLetIn: isLetIn)
      let result = try await body(table)
      await table.matches.withdraw()
      return result
    }
  }

  private init(
    _ record: HostRecord, _ session: Session, _ gate: FleetGate, in address: FleetAddress,
    key: BackendKey, isLetIn: Bool
  ) async throws {
    self.record = record
    self.session = session
    self.gate = gate
    let (stream, happened) = AsyncStream.makeStream(of: FleetMatches.Event.self)
    iterator = stream.makeAsyncIterator()
    matches = FleetMatches(
      of: FleetMembership(of: record, in: address, keys: [key], on: session.loop), over: session,
      gate: gate, key: key
    ) { happened.yield($0) }
    await matches.begin()
    guard isLetIn else { return }
    try await wait(for: .registered)
  }

  /// Waits until `event` happens, after all that has happened so far.
  func wait(for event: FleetMatches.Event) async throws {
    while let next = await iterator.next(isolation: #isolation) {
      events.append(next)
      if next == event { return }
    }
    try #require(Bool(false), "\(event) has not happened: \(events)")
  }

  /// Waits for the first event, from now on, for which `choose` has a result.
  func wait<Result>(_ choose: (FleetMatches.Event) -> Result?) async throws -> Result {
    while let next = await iterator.next(isolation: #isolation) {
      events.append(next)
      if let result = choose(next) { return result }
    }
    return try #require(nil, "nothing of the kind has happened: \(events)")
  }

  /// Waits for the next peer that joins the session.
  func joined() async throws -> Peer {
    var iterator = session.events.makeAsyncIterator()
    while let event = await iterator.next() {
      if case .joined(let peer) = event { return peer }
    }
    return try #require(nil, "nobody has joined")
  }
}

/// A player of a fleet's match on a session of its own.
struct TestPlayer {
  let info: PeerInfo
  private let key: BackendKey

  init(_ number: Int, key: BackendKey) {
    info = PeerInfo(id: .player(number), name: "\(number)", application: "hockey")
    self.key = key
  }

  func token(for placement: Placement) throws -> ConnectToken {
    var generator = SystemRandomNumberGenerator()
    return try placement.token(
      for: info.id, key: key, at: UnixTime(milliseconds: WallClock.milliseconds),
      using: &generator)
  }

  /// Joins the host of a token.
  func join<Result>(
    with token: ConnectToken, on loop: NetworkLoop,
    _ body: (Session, Peer) async throws -> Result
  ) async throws -> Result {
    try await Session.join(token.hosts, as: info, security: .token(token), loop: loop, body)
  }
}

extension Session {
  /// Waits until the host has left, and returns the reason.
  func ending() async -> DisconnectReason? {
    var iterator = events.makeAsyncIterator()
    while let event = await iterator.next() {
      if case .left(_, let reason) = event { return reason }
    }
    return nil
  }
}
