import CaromCore
import CaromCrypto
import CaromPlacement

/// What a host needs to take part in a fleet.
public struct FleetSettings: Sendable {
  /// The region of a host that names none.
  public static let anyRegion = "any"

  /// The directory of the fleet.
  public let directory: FleetAddress
  /// The key that the hosts of the fleet share with its matchmaker. Both make connect tokens with
  /// it. The directory lets no host in whose key is not that of the others.
  public let key: BackendKey
  /// Other keys whose tokens the host accepts, at most 3, while the fleet changes its key.
  public let otherKeys: [BackendKey]
  /// The identity of this host. Give each host of the fleet another one, and keep it when the host
  /// starts again.
  public let identity: Identity
  /// The game and the version that the host runs.
  public let game: GameVersion
  /// The addresses at which players reach this host, 1 to 6, the preferred one first. They are
  /// those of this computer, or of the router in front of it.
  public let addresses: [IPAddress]
  /// The region in which the host is, such as "eu-west": 1 to 63 visible ASCII characters.
  public let region: String
  /// Whether the host runs one match at a time.
  public let takesOneMatch: Bool

  /// Creates settings. All arguments must be within the limits that the properties state.
  public init(
    _ directory: FleetAddress, key: BackendKey, accepting otherKeys: [BackendKey] = [],
    as identity: Identity, game: GameVersion,
    addresses: [IPAddress], region: String = anyRegion, takesOneMatch: Bool = false
  ) {
    precondition(
      1...ConnectToken.hostLimit ~= addresses.count, "a host has 1 to 6 addresses for players")
    precondition(otherKeys.count < HostKeys.limit, "a host accepts at most 3 other keys")
    precondition(FleetText.isValid(region), "a region has 1 to 63 visible ASCII characters")
    self.directory = directory
    self.key = key
    self.otherKeys = otherKeys
    self.identity = identity
    self.game = game
    self.addresses = addresses
    self.region = region
    self.takesOneMatch = takesOneMatch
  }

  /// The record of this host, which listens on `port` and has this number of seats.
  func record(port: UInt16, seats: Int) -> HostRecord {
    HostRecord(
      key: identity.publicKey, endpoints: addresses.map { Endpoint($0, port: port) },
      region: region, game: game, seats: seats)
  }
}
