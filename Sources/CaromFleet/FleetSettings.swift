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
  /// The addresses at which players reach this host on the port on which it listens, 1 to 6, the
  /// preferred one first. They are those of this computer. Empty if the host advertises other
  /// endpoints.
  public let addresses: [IPAddress]
  /// The endpoints at which players reach this host, 1 to 6, the preferred one first, if they are
  /// those of a proxy, a router or a node in front of it. Empty if it advertises its own.
  public let advertisedEndpoints: [Endpoint]
  /// The bytes by which a proxy at the advertised endpoints finds this host; nil if it needs none.
  public let routing: DatagramRouting?
  /// The region in which the host is, such as "eu-west": 1 to 63 visible ASCII characters.
  public let region: String
  /// Whether the host runs one match at a time.
  public let takesOneMatch: Bool

  /// Creates settings of a host that players reach at its own addresses. All arguments must be
  /// within the limits that the properties state.
  public init(
    _ directory: FleetAddress, key: BackendKey, accepting otherKeys: [BackendKey] = [],
    as identity: Identity, game: GameVersion, addresses: [IPAddress], region: String = anyRegion,
    takesOneMatch: Bool = false
  ) {
    precondition(
      1...ConnectToken.hostLimit ~= addresses.count, "a host has 1 to 6 addresses for players")
    self.init(
      directory, key: key, otherKeys, as: identity, game: game, addresses: addresses, [], nil,
      region: region, takesOneMatch: takesOneMatch)
  }

  /// Creates settings of a host that players reach at `endpoints`, which are not its own, for
  /// example through a proxy, which may need `routing` to find it. All arguments must be within the
  /// limits that the properties state, and players must be able to connect to the endpoints.
  public init(
    _ directory: FleetAddress, key: BackendKey, accepting otherKeys: [BackendKey] = [],
    as identity: Identity, game: GameVersion, advertising endpoints: [Endpoint],
    routing: DatagramRouting? = nil, region: String = anyRegion, takesOneMatch: Bool = false
  ) {
    precondition(
      1...ConnectToken.hostLimit ~= endpoints.count, "a host has 1 to 6 endpoints for players")
    precondition(
      endpoints.allSatisfy(ConnectToken.isUsable), "players must be able to connect to the endpoint"
    )
    self.init(
      directory, key: key, otherKeys, as: identity, game: game, addresses: [], endpoints, routing,
      region: region, takesOneMatch: takesOneMatch)
  }

  private init(
    _ directory: FleetAddress, key: BackendKey, _ otherKeys: [BackendKey], as identity: Identity,
    game: GameVersion, addresses: [IPAddress], _ endpoints: [Endpoint],
    _ routing: DatagramRouting?, region: String, takesOneMatch: Bool
  ) {
    precondition(otherKeys.count < HostKeys.limit, "a host accepts at most 3 other keys")
    precondition(FleetText.isValid(region), "a region has 1 to 63 visible ASCII characters")
    self.directory = directory
    self.key = key
    self.otherKeys = otherKeys
    self.identity = identity
    self.game = game
    self.addresses = addresses
    advertisedEndpoints = endpoints
    self.routing = routing
    self.region = region
    self.takesOneMatch = takesOneMatch
  }

  /// The record of this host, which listens on `port` and has this number of seats.
  func record(port: UInt16, seats: Int) -> HostRecord {
    HostRecord(
      key: identity.publicKey,
      endpoints: advertisedEndpoints + addresses.map { Endpoint($0, port: port) },
      routing: routing, region: region, game: game, seats: seats)
  }
}
