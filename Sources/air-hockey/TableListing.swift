import Carom

/// The advertisement of a table on the network, which says whether its seat is free.
actor TableListing: LoopActor {
  nonisolated let loop: NetworkLoop
  private let interfaces: InterfaceSelection
  private var discovery: DiscoveryCore?
  private var advertised: (service: DiscoveryCore.AdvertisingID, host: PeerID, key: PublicKey?)?

  init(interfaces: InterfaceSelection, on loop: NetworkLoop) {
    self.loop = loop
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
  /// changes. `key` is the public key with which players may begin their handshakes.
  func begin(
    as host: PeerInfo, key: PublicKey?, port: UInt16, freeSeats: Int,
    _ report: @escaping @Sendable (String) -> Void
  ) throws {
    guard let discovery else { return report("not listed, port \(port)") }
    let service = AdvertisedService(
      name: host.name, type: GameWire.serviceType, port: port,
      txt: Self.text(host.id, key, freeSeats: freeSeats))
    let advertising = try discovery.advertise(service) { event in
      switch event {
      case .established(let name): report("visible as '\(name)', port \(port)")
      case .renamed(let name): report("now visible as '\(name)'")
      case .failed(let error): report("not visible: \(error)")
      }
    }
    advertised = (advertising, host.id, key)
  }

  /// Advertises the number of free seats. A seat counts as free while a computer opponent occupies
  /// it. Must be called on the loop.
  nonisolated func update(freeSeats: Int) {
    assumeIsolated { listing in
      guard let (service, host, key) = listing.advertised else { return }
      try? listing.discovery?.update(service, txt: Self.text(host, key, freeSeats: freeSeats))
    }
  }

  private static func text(_ host: PeerID, _ key: PublicKey?, freeSeats: Int) -> TXTRecord {
    var text = Sighting(id: host, status: .hosting, freeSeats: freeSeats).text
    text.hostKey = key
    return text
  }

  /// Withdraws the advertisement.
  func close() { discovery?.close() }
}
