import CaromCore
import CaromDiscovery
import CaromProtocol
import CaromSession
import CaromTesting
import CaromTransport

/// Finds an opponent on the local network: advertises a match with one free seat, and at the same
/// time looks for the matches of other players.
///
/// If two searching players find each other, the player with the lower id joins the other. A match
/// whose host is waiting is joined regardless of the ids. Players need not choose a role, and no
/// two players who could play each other remain without a match.
public actor MatchFinder: LoopActor {
  /// The options of a finder.
  public struct Options: Hashable, Sendable {
    /// The service type under which matches are advertised and found.
    public var type: ServiceType
    /// The network interfaces to use.
    public var interfaces = InterfaceSelection.automatic
    /// The port to listen on. If it is 0, the system chooses the port.
    public var port: UInt16 = 0
    /// The time for which the finder advertises itself as searching. After that, it advertises
    /// itself as waiting.
    public var window = Duration.seconds(6)
    /// The kinds of links that the finder offers and opens.
    public var kinds = LinkKinds.all
    /// The timeouts of connections.
    public var timing = SessionTiming()
    /// The conditions that are simulated for the datagrams of connections, as
    /// `SessionNode.simulate` describes; nil for none. If conditions are given, the finder uses no
    /// streams.
    public var conditions: LinkProfile?
    /// How connections are protected. All players must use the same security.
    public var security = SessionSecurity.anyone

    /// Creates options with the service type `type` and the default values of all other properties.
    public init(type: ServiceType) { self.type = type }
  }

  /// The time limit for resolving a host's address.
  public static let resolveLimit = Duration.seconds(3)

  /// The event loop on whose thread the finder runs.
  public nonisolated let loop: NetworkLoop
  /// The node of the finder's connections.
  public nonisolated let node: SessionNode
  private let options: Options
  private var discovery: DiscoveryCore?
  private var advertising: DiscoveryCore.AdvertisingID?
  /// The advertised hosts, by the name of the host's service.
  private var hosts: [String: (id: PeerID, service: DiscoveredService)] = [:]
  private var handler: (@Sendable (SessionEvent) -> Void)?
  private var port: UInt16 = 0

  /// Creates a finder, which does nothing until `begin` is called.
  public init(as local: PeerInfo, _ options: Options, on loop: NetworkLoop) {
    self.loop = loop
    self.options = options
    node = SessionNode(
      matching: local, window: options.window, timing: options.timing,
      over: options.conditions == nil ? options.kinds : .datagram,
      security: options.security, seed: .random(in: .min ... .max), on: loop)
  }

  /// Starts listening, advertising and looking for matches, and returns the port. Connection events
  /// are passed to `handle`, which runs isolated to `owner`, an actor on the same loop. The finder
  /// holds `owner` weakly. Throws a `DiscoveryError` if the peer's name is not a valid service
  /// name, for example because it contains control characters.
  public func begin<Owner: Actor>(
    owner: Owner, _ handle: @escaping @Sendable (isolated Owner, SessionEvent) -> Void
  ) async throws -> UInt16 {
    try await prepare()
    try await listen()
    handler = { [weak owner] event in owner?.assumeIsolated { handle($0, event) } }
    await node.setHandler(owner: self) { finder, event in finder.handle(event) }
    try browse()
    return port
  }

  /// Starts listening, advertising and looking for matches, and runs `body` with a session and the
  /// port. The session's peer is the opponent that was found: `Peer.isHost` says which side hosts
  /// the match. When an opponent leaves, the finder looks for the next one. When `body` has
  /// returned or thrown, the advertisement is withdrawn and the session ends. Throws a
  /// `DiscoveryError` if the peer's name is not a valid service name.
  public func run<Result>(
    _ body: (Session, UInt16) async throws -> Result
  ) async throws -> Result {
    try await prepare()
    // The session takes the node's first events, one of which is the advertisement.
    try await listen()
    defer {
      discovery?.close()
      discovery = nil
    }
    return try await Session.run(matching: node) { [weak self] event in
      self?.assumeIsolated { $0.handle(event) }
    } _: { session in
      // The withdrawal precedes the session's goodbyes.
      defer { discovery?.close() }
      try browse()
      return try await body(session, port)
    }
  }

  private func prepare() async throws {
    // The peer's name becomes the service's name, to which stricter rules apply. The port is not
    // known yet.
    try AdvertisedService(name: node.local.name, type: options.type, port: 1).validate()
    if let conditions = options.conditions { await node.simulate(conditions, asHost: false) }
  }

  private func listen() async throws {
    let discovery = try DiscoveryCore(on: loop, interfaces: options.interfaces)
    port = try await node.listen(on: Self.addresses(of: discovery), port: options.port)
    self.discovery = discovery
  }

  private func browse() throws {
    try discovery?.browse(options.type) { [weak self] change in
      self?.assumeIsolated { $0.handle(change) }
    }
  }

  /// Withdraws the advertisement, disconnects the peer with `goodbye`, and waits until the
  /// withdrawal and the goodbye have been sent.
  public func end(_ goodbye: Goodbye = Goodbye(.left)) async {
    discovery?.close()
    discovery = nil
    await node.shutdown(goodbye)
  }

  /// Returns the addresses to listen on: the loopback address if discovery uses only the loopback
  /// interface, or all addresses otherwise.
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
    var text = Sighting(id: node.local.id, status: status, freeSeats: freeSeats).text
    text.hostKey = node.publicKey
    let service = AdvertisedService(
      name: node.local.name, type: options.type, port: port, txt: text)
    do throws(DiscoveryError) {
      if let advertising { return try discovery.update(advertising, txt: text) }
      advertising = try discovery.advertise(service) { _ in }
    } catch {
      if error == .closed { return }  // the loop is shutting down
      preconditionFailure("\(node.local.name) was validated when the finder began: \(error)")
    }
  }
}

// MARK: - Hosts
extension MatchFinder {
  private func handle(_ change: ServiceChange) {
    let service = change.service
    switch change {
    case .added, .updated:
      guard let sighting = Sighting(service.txt) else { return }
      let before = hosts.updateValue((sighting.id, service), forKey: service.name)
      // Another host may have taken over the service name.
      if let before, before.id != sighting.id { removeIfUnlisted(before.id) }
      node.assumeIsolated { $0.addHost(sighting) }
    case .removed:
      guard let removed = hosts.removeValue(forKey: service.name) else { return }
      removeIfUnlisted(removed.id)
    }
  }

  /// Removes a host unless it is still advertised under another name. Without this check, any
  /// service could withdraw the advertisement of another host.
  private func removeIfUnlisted(_ peer: PeerID) {
    guard !hosts.values.contains(where: { $0.id == peer }) else { return }
    node.assumeIsolated { $0.removeHost(peer) }
  }

  private func resolve(_ peer: PeerID, for connection: ConnectionID) {
    guard let discovery, let host = hosts.values.first(where: { $0.id == peer }) else {
      return node.assumeIsolated { $0.failConnect(connection) }
    }
    let node = node
    do throws(DiscoveryError) {
      try discovery.resolve(host.service, within: Self.resolveLimit) { result in
        node.assumeIsolated { node in
          switch result {
          case .success(let resolved):
            node.open(connection, to: resolved.endpoints, hostKey: resolved.txt.hostKey)
          case .failure: node.failConnect(connection)
          }
        }
      }
    } catch {
      node.assumeIsolated { $0.failConnect(connection) }
    }
  }
}
