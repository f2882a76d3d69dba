import CaromCore
import CaromDiscovery
import CaromProtocol
import CaromSession
import CaromTransport

/// Finds somebody to play with: hosts a table with one free seat and looks for others' at once.
///
/// Whoever starts together sits down together: of two that see each other the lower id joins the
/// higher; a table whose host stays is joined whatever its id. Nobody has to choose a role, and
/// nobody who could play is left alone.
public actor MatchFinder: LoopActor {
  /// How a finder looks.
  public struct Options: Hashable, Sendable {
    /// What is published and looked for.
    public var type: ServiceType
    /// Where.
    public var interfaces = InterfaceSelection.automatic
    /// The port to listen on; 0 lets the system choose.
    public var port: UInt16 = 0
    /// How long the finder says that it searches before it says that it waits.
    public var window = Duration.seconds(6)
    /// The kinds of links that are offered and opened.
    public var kinds = LinkKinds.all
    /// The connection's waiting times.
    public var timing = SessionTiming()

    /// Looks for tables of a type.
    public init(type: ServiceType) { self.type = type }
  }

  /// How long a table may take to say where it listens.
  public static let resolveLimit = Duration.seconds(3)

  /// The loop whose thread it runs on.
  public nonisolated let loop: NetworkLoop
  /// The connections: events of those who sat down come from here, through `setHandler`.
  public nonisolated let node: SessionNode
  private let options: Options
  private var discovery: DiscoveryCore?
  private var advertising: DiscoveryCore.AdvertisingID?
  private var tables: [String: (id: PeerID, service: DiscoveredService)] = [:]
  private var handler: (@Sendable (SessionEvent) -> Void)?
  private var port: UInt16 = 0
  private var failure: (@Sendable (DiscoveryError) -> Void)?

  /// A finder that has not begun.
  public init(as local: PeerInfo, _ options: Options, on loop: NetworkLoop) {
    self.loop = loop
    self.options = options
    node = SessionNode(
      matching: local, window: options.window, timing: options.timing, over: options.kinds,
      seed: .random(in: .min ... .max), on: loop)
  }

  /// Listens, then tells everybody and looks. The connections' events go to `handle`, inside
  /// `owner`, an actor on the same loop, held weakly. Returns the port. A name that a service
  /// cannot have, one with control characters, is a `DiscoveryError`.
  public func begin<Owner: Actor>(
    owner: Owner, _ handle: @escaping @Sendable (isolated Owner, SessionEvent) -> Void
  ) async throws -> UInt16 {
    // The peer's name becomes the service's, which is stricter; the port is not known yet.
    try AdvertisedService(name: node.local.name, type: options.type, port: 1).validate()
    let discovery = try DiscoveryCore(on: loop, interfaces: options.interfaces)
    port = try await node.listen(on: Self.addresses(of: discovery), port: options.port)
    self.discovery = discovery
    handler = { [weak owner] event in owner?.assumeIsolated { handle($0, event) } }
    await node.setHandler(owner: self) { finder, event in finder.handle(event) }
    try discovery.browse(options.type) { [weak self] change in
      self?.assumeIsolated { $0.handle(change) }
    }
    return port
  }

  /// Says the goodbyes of discovery and to the peer; returns when they have left.
  public func end(_ goodbye: Goodbye = Goodbye(.left)) async {
    discovery?.close()
    discovery = nil
    await node.shutdown(goodbye)
  }

  /// On loopback alone only loopback is listened on; otherwise every address.
  private static func addresses(of discovery: DiscoveryCore) -> [IPAddress] {
    discovery.activeInterfaces.allSatisfy(\.isLoopback) ? [.loopback4] : [.any4, .any6]
  }

  private func handle(_ event: SessionEvent) {
    switch event {
    case .advertise(let status, let freeSeats): advertise(status, freeSeats)
    case .connect(let peer, let connection): resolve(peer, for: connection)
    default: handler?(event)
    }
  }

  private func advertise(_ status: Sighting.Status, _ freeSeats: Int) {
    guard let discovery else { return }
    let text = Sighting(id: node.local.id, status: status, freeSeats: freeSeats).text
    let service = AdvertisedService(
      name: node.local.name, type: options.type, port: port, txt: text)
    do throws(DiscoveryError) {
      if let advertising { return try discovery.update(advertising, txt: text) }
      advertising = try discovery.advertise(service) { _ in }
    } catch {
      if error == .closed { return }  // the loop shuts down
      preconditionFailure("\(node.local.name) was checked when the finder began: \(error)")
    }
  }

  private func handle(_ change: ServiceChange) {
    let service = change.service
    switch change {
    case .added, .updated:
      guard let sighting = Sighting(service.txt) else { return }
      let before = tables.updateValue((sighting.id, service), forKey: service.name)
      // A name that is another table's now would else be remembered once for each of them.
      if let before, before.id != sighting.id { forget(before.id) }
      node.assumeIsolated { $0.addHost(sighting) }
    case .removed:
      guard let gone = tables.removeValue(forKey: service.name) else { return }
      forget(gone.id)
    }
  }

  /// Whoever is still seen under another name stays: nobody can take another's table back.
  private func forget(_ peer: PeerID) {
    guard !tables.values.contains(where: { $0.id == peer }) else { return }
    node.assumeIsolated { $0.removeHost(peer) }
  }

  private func resolve(_ peer: PeerID, for connection: ConnectionID) {
    guard let discovery, let table = tables.values.first(where: { $0.id == peer }) else {
      return node.assumeIsolated { $0.failConnect(connection) }
    }
    let node = node
    discovery.resolve(table.service, within: Self.resolveLimit) { result in
      node.assumeIsolated { node in
        switch result {
        case .success(let resolved): node.open(connection, to: resolved.endpoints)
        case .failure: node.failConnect(connection)
        }
      }
    }
  }
}
