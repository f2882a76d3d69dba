import Carom

/// A table that stays: it listens, and says on the network whether its seat is free.
actor OpenTable: LoopActor {
  /// How many can watch.
  static let watcherLimit = 32

  nonisolated let loop: NetworkLoop
  nonisolated let node: SessionNode
  private let interfaces: InterfaceSelection
  /// Whether the network is told of it; otherwise whoever knows host and port can join.
  private let isListed: Bool
  private var discovery: DiscoveryCore?
  private var advertising: DiscoveryCore.AdvertisingID?
  private var port: UInt16 = 0

  init(
    as local: PeerInfo, interfaces: InterfaceSelection, over kinds: LinkKinds, isListed: Bool,
    on loop: NetworkLoop
  ) {
    self.loop = loop
    self.isListed = isListed
    self.interfaces = interfaces
    node = SessionNode(
      local, seats: 1, spectatorSeats: Self.watcherLimit, over: kinds, on: loop)
  }

  /// Listens, before anybody can find the table. Returns the port.
  func listen(port: UInt16) async throws -> UInt16 {
    if isListed { discovery = try DiscoveryCore(on: loop, interfaces: interfaces) }
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

  /// Makes the table visible, if it is to be; `tell` hears under which name.
  func advertise(_ tell: @escaping @Sendable (String) -> Void) throws {
    guard isListed else { return tell("not listed, port \(port)") }
    let service = AdvertisedService(
      name: node.local.name, type: GameWire.serviceType, port: port, txt: text(freeSeats: 1))
    let port = port
    advertising = try discovery?.advertise(service) { event in
      switch event {
      case .established(let name): tell("visible as '\(name)', port \(port)")
      case .renamed(let name): tell("now visible as '\(name)'")
      case .failed(let error): tell("not visible: \(error)")
      }
    }
  }

  /// Says how many seats are free from now on; one that a computer keeps warm is.
  /// Called on the loop.
  nonisolated func update(freeSeats: Int) {
    assumeIsolated { table in
      guard let advertising = table.advertising else { return }
      try? table.discovery?.update(advertising, txt: table.text(freeSeats: freeSeats))
    }
  }

  private func text(freeSeats: Int) -> TXTRecord {
    Sighting(id: node.local.id, status: .hosting, freeSeats: freeSeats).text
  }

  /// Says all goodbyes.
  func close() async {
    discovery?.close()
    await node.shutdown()
  }
}
