import Carom

/// A session node that hosts one opponent after another, and advertises on the network whether its
/// seat is free.
actor HostNode: LoopActor {
  /// The maximum number of spectators.
  static let spectatorLimit = 32

  nonisolated let loop: NetworkLoop
  nonisolated let node: SessionNode
  private let interfaces: InterfaceSelection
  /// Whether the table is advertised. Otherwise players need its host and port to join.
  private let isListed: Bool
  /// The conditions that are simulated; nil for none.
  private let conditions: LinkProfile?
  private var discovery: DiscoveryCore?
  private var advertising: DiscoveryCore.AdvertisingID?
  private var port: UInt16 = 0

  init(
    as local: PeerInfo, interfaces: InterfaceSelection, timing: SessionTiming,
    over kinds: LinkKinds, security: SessionSecurity, conditions: LinkProfile?, isListed: Bool,
    on loop: NetworkLoop
  ) {
    self.loop = loop
    self.isListed = isListed
    self.conditions = conditions
    self.interfaces = interfaces
    node = SessionNode(
      local, seats: 1, spectatorSeats: Self.spectatorLimit, timing: timing, over: kinds,
      security: security, on: loop)
  }

  /// Starts listening and returns the port. Must be called before `advertise`.
  func listen(port: UInt16) async throws -> UInt16 {
    if isListed { discovery = try DiscoveryCore(on: loop, interfaces: interfaces) }
    if let conditions { await node.simulate(conditions, asHost: true) }
    do {
      self.port = try await node.listen(
        on: isOnLoopback ? [.loopback4] : [.any4, .any6], port: port)
    } catch {
      discovery?.close()
      throw error
    }
    return self.port
  }

  private var isOnLoopback: Bool {
    guard let discovery else { return interfaces == .named(["lo"]) }
    return discovery.activeInterfaces.allSatisfy(\.isLoopback)
  }

  /// Advertises the table unless it is unlisted. Calls `report` with a line of text for the players
  /// at this computer whenever the advertisement changes.
  func advertise(_ report: @escaping @Sendable (String) -> Void) throws {
    guard isListed else { return report("not listed, port \(port)") }
    let service = AdvertisedService(
      name: node.local.name, type: GameWire.serviceType, port: port, txt: text(freeSeats: 1))
    let port = port
    advertising = try discovery?.advertise(service) { event in
      switch event {
      case .established(let name): report("visible as '\(name)', port \(port)")
      case .renamed(let name): report("now visible as '\(name)'")
      case .failed(let error): report("not visible: \(error)")
      }
    }
  }

  /// Advertises the number of free seats. A seat counts as free while a computer opponent occupies
  /// it. Must be called on the loop.
  nonisolated func update(freeSeats: Int) {
    assumeIsolated { host in
      guard let advertising = host.advertising else { return }
      try? host.discovery?.update(advertising, txt: host.text(freeSeats: freeSeats))
    }
  }

  private func text(freeSeats: Int) -> TXTRecord {
    Sighting(id: node.local.id, status: .hosting, freeSeats: freeSeats).text
  }

  /// Withdraws the advertisement and disconnects all peers, with goodbyes.
  func close() async {
    discovery?.close()
    await node.shutdown()
  }
}
