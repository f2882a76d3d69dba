import Carom

/// The advertisement of a table on the network, which says whether its seat is free.
actor TableListing: LoopActor {
  nonisolated let loop: NetworkLoop
  private let interfaces: InterfaceSelection
  private var discovery: DiscoveryCore?
  private var host: PeerInfo
  private var advertising: DiscoveryCore.AdvertisingID?

  init(of host: PeerInfo, interfaces: InterfaceSelection, on loop: NetworkLoop) {
    self.loop = loop
    self.host = host
    self.interfaces = interfaces
  }

  /// Prepares the advertisement, unless the table is not to be listed, and returns the addresses to
  /// listen on: the loopback address if the table is offered on the loopback interface only, or all
  /// addresses otherwise.
  func open(isListed: Bool) throws -> [IPAddress] {
    if isListed { discovery = try DiscoveryCore(on: loop, interfaces: interfaces) }
    let isOnLoopback =
      discovery?.activeInterfaces.allSatisfy(\.isLoopback) ?? (interfaces == .named(["lo"]))
    return isOnLoopback ? [.loopback4] : [.any4, .any6]
  }

  /// Advertises the table unless it is unlisted. Players then need its host and port to join. Calls
  /// `report` with a line of text for the players at this computer whenever the advertisement
  /// changes.
  func begin(
    as host: PeerInfo, port: UInt16, _ report: @escaping @Sendable (String) -> Void
  ) throws {
    guard let discovery else { return report("not listed, port \(port)") }
    self.host = host
    let service = AdvertisedService(
      name: host.name, type: GameWire.serviceType, port: port, txt: text(freeSeats: 1))
    advertising = try discovery.advertise(service) { event in
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
    assumeIsolated { listing in
      guard let advertising = listing.advertising else { return }
      try? listing.discovery?.update(advertising, txt: listing.text(freeSeats: freeSeats))
    }
  }

  private func text(freeSeats: Int) -> TXTRecord {
    Sighting(id: host.id, status: .hosting, freeSeats: freeSeats).text
  }

  /// Withdraws the advertisement.
  func close() { discovery?.close() }
}
