import CaromCore
import CaromCrypto

/// What a host tells the fleet about itself when it registers. It does not change while the host
/// runs.
public struct HostRecord: Hashable, Sendable {
  /// The maximum number of seats of a host.
  public static let seatLimit = 65_535

  /// The host's id, which belongs to its public key.
  public let id: PeerID
  /// The public key by which players recognize the host.
  public let key: PublicKey
  /// The endpoints at which players reach the host, 1 to 6, the preferred one first.
  public let endpoints: [Endpoint]
  /// The bytes by which a proxy at these endpoints finds the host; nil if there is no proxy that
  /// needs any.
  public let routing: DatagramRouting?
  /// The region in which the host is, such as "eu-west": 1 to 63 visible ASCII characters.
  public let region: String
  /// The game and the version that the host runs.
  public let game: GameVersion
  /// The number of seats of all the host's matches together, 1 to 65,535.
  public let seats: Int

  /// Creates the record of a host. All arguments must be within the limits that the properties
  /// state.
  public init(
    key: PublicKey, endpoints: [Endpoint], routing: DatagramRouting? = nil, region: String,
    game: GameVersion, seats: Int
  ) {
    precondition(
      1...ConnectToken.hostLimit ~= endpoints.count, "a host has 1 to 6 endpoints for players")
    precondition(FleetText.isValid(region), "a region has 1 to 63 visible ASCII characters")
    precondition(1...Self.seatLimit ~= seats, "a host has 1 to 65,535 seats")
    id = PeerID(of: key)
    self.key = key
    self.endpoints = endpoints
    self.routing = routing
    self.region = region
    self.game = game
    self.seats = seats
  }

  /// The endpoints, with the routing.
  package var doors: [RoutedEndpoint] { endpoints.map { RoutedEndpoint($0, routing: routing) } }
}

/// How busy a host is. The host measures it over the last second.
public struct HostLoad: Hashable, Sendable {
  /// A host with at least so many late ticks for each 1,000 is overloaded.
  package static let lateTickLimit = 50
  /// A host that uses at least so much of each 1,000 units of processor time is overloaded.
  package static let processorLimit = 900

  /// The ticks that were still waiting when the next one was due, for each 1,000 ticks.
  public let lateTicks: Int
  /// The processor time that the thread of the host's session has used, for each 1,000 units of
  /// time.
  public let processor: Int

  /// Creates a load. Values outside 0 to 1,000 are replaced by the nearest value in that range.
  public init(lateTicks: Int = 0, processor: Int = 0) {
    self.lateTicks = min(max(lateTicks, 0), 1_000)
    self.processor = min(max(processor, 0), 1_000)
  }

  /// Whether more matches would make the host's players notice: 5 % of the ticks are late, or 90 %
  /// of the processor time is used. Such a host gets matches only if no other one of its region has
  /// room.
  public var isOverloaded: Bool {
    lateTicks >= Self.lateTickLimit || processor >= Self.processorLimit
  }
}
