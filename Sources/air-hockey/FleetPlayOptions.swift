import ArgumentParser
import Carom
import CaromCrypto
import CaromFleet
import CaromPlacement
import CommandSupport

/// The options with which tables and players belong to a fleet.
struct FleetPlayOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      The fleet, which places matches at its tables, and moves them when a table goes away: \
      redis://HOST:PORT/NAME, or rediss://HOST:PORT/NAME with TLS. Also \
      needs --key FILE, the same for the whole fleet.
      """,
      valueName: "address"))
  var fleet: String?
  @OptionGroup var redis: RedisOptions
  @Option(
    help: ArgumentHelp(
      """
      How long a table of a fleet that drains, or is told to end, looks for another table for its \
      match, before it ends without one; and how long a player waits for a table. Up to 86400. \
      Default: 10 for a table that is told to end, while one that an operator drains goes on with \
      its match; 60 for a player.
      """, valueName: "seconds"))
  var patience: Double?

  /// Throws unless the options of a fleet are complete, and fit to the others.
  func check(_ protection: SecurityOptions, isHost: Bool) throws {
    try redis.check(fleet)
    guard let fleet else {
      if patience != nil { throw ValidationError("--patience needs --fleet ADDRESS.") }
      return try protection.checkToken(isHost: isHost)
    }
    guard patience.map({ (0...86_400).contains($0) }) ?? true else {
      throw ValidationError("--patience must be 0 to 86400 seconds.")
    }
    guard protection.policy == .token, !protection.key.isEmpty, protection.token == nil else {
      throw ValidationError(
        "--fleet also needs --key FILE, the key of the fleet's tokens, and no other security.")
    }
    if !isHost, protection.key.count > 1 {
      throw ValidationError("A player of a fleet needs one --key FILE, with the fleet's first key.")
    }
    do throws(FleetAddressError) { _ = try FleetAddress(fleet) } catch {
      throw ValidationError("--fleet: \(error).")
    }
  }

  /// The address of the fleet, with what is in the files that the options name; nil without
  /// --fleet.
  func address() throws(CommandFailure) -> FleetAddress? {
    try fleet.map { (fleet) throws(CommandFailure) in try redis.address(of: fleet) }
  }
}

extension GameVersion {
  /// What every table of a fleet runs.
  static let airHockey = GameVersion(GameWire.application, "\(GameWire.version)")
}

/// A table of a fleet: how it is found, and how it recognizes players.
struct FleetTable: Sendable {
  /// The region of a table that has none.
  static let anyRegion = "any"

  let address: FleetAddress
  let region: String
  /// The keys of the fleet's tokens. The table makes its own with the first.
  let keys: [BackendKey]
  let identity: Identity

  /// Returns the record of this table, which listens on `port` of `interfaces`. Throws if players
  /// cannot reach it.
  func record(on interfaces: [Interface], port: UInt16) throws(CommandFailure) -> HostRecord {
    let isOnLoopback = interfaces.allSatisfy(\.isLoopback)
    let addresses = interfaces.filter { isOnLoopback || !$0.isLoopback }.flatMap(\.addresses)
      .map(\.address).filter { !$0.isLinkLocal && !(isOnLoopback && $0.isV6) }
    let endpoints = addresses.prefix(ConnectToken.hostLimit).map { Endpoint($0, port: port) }
    guard !endpoints.isEmpty else {
      throw CommandFailure(
        .unreachable, "this computer has no address for players: check --interface")
    }
    return record(at: Array(endpoints))
  }

  /// Returns the record of this table, which players reach at `endpoints`, where a proxy may find
  /// it by `routing`.
  func record(at endpoints: [Endpoint], routing: DatagramRouting? = nil) -> HostRecord {
    HostRecord(
      key: identity.publicKey, endpoints: endpoints, routing: routing, region: region,
      game: .airHockey, seats: 2)
  }
}
