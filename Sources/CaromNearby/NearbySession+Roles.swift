import CaromCore
import CaromDNS
import CaromDiscovery
import CaromProtocol
import CaromTransport

// For the layers above, whose sessions become visible and begin to browse while they run. All of
// this is called on the session's loop.
extension NearbySession {
  /// Makes this side visible under a service type, beside what its role does. `handle` is called
  /// if the service stops being visible. Throws if `info` cannot be advertised or the network
  /// cannot be used.
  package func advertise(
    _ type: ServiceType, info: TXTRecord, _ handle: @escaping @Sendable (DiscoveryError) -> Void
  ) throws -> DiscoveryCore.AdvertisingID {
    try node.assumeIsolated { try $0.advertise(type, info: info, handle) }
  }

  /// Withdraws a service that `advertise` has made visible.
  package func withdraw(_ id: DiscoveryCore.AdvertisingID) {
    node.assumeIsolated { $0.discovery?.withdraw(id) }
  }

  /// Looks for the peers of a service type, beside what the role does. `handle` receives their
  /// changes, and those that are known already before this method returns.
  package func browse(
    _ type: ServiceType, _ handle: @escaping @Sendable (DiscoveryChange<NearbyPeer>) -> Void
  ) throws(DiscoveryError) -> DiscoveryCore.WatchingID {
    let result = node.assumeIsolated { node in
      Result { () throws(DiscoveryError) in try node.browse(type, handle) }
    }
    return try result.get()
  }

  /// Stops what `browse` has begun. The peers of the type are forgotten unless another watch finds
  /// them; connections to them stay.
  package func stopBrowsing(_ id: DiscoveryCore.WatchingID) {
    node.assumeIsolated { $0.stopBrowsing(id) }
  }

  /// Makes a peer visible at `endpoints`, as `add(_:at:)` does.
  package func addNow(_ peer: NearbyPeer, at endpoints: [Endpoint]) {
    node.assumeIsolated { $0.add(peer, at: endpoints) }
  }

  /// Disconnects a peer, as `disconnect(_:_:)` does.
  package func disconnectNow(_ peer: PeerID) {
    node.assumeIsolated { $0.disconnect(peer, Goodbye(.left)) }
  }

  /// The endpoints at which other peers reach this side, at most `limit`.
  package func localEndpoints(limit: Int) -> [Endpoint] {
    node.assumeIsolated { $0.localEndpoints(limit: limit) }
  }
}

extension NearbyNode {
  func advertise(
    _ type: ServiceType, info: TXTRecord, _ handle: @escaping @Sendable (DiscoveryError) -> Void
  ) throws -> DiscoveryCore.AdvertisingID {
    let record = NearbyRecord(id: local.id, name: settings.name, info: info)
    let service = AdvertisedService(
      name: record.serviceName, type: type, port: port, txt: try record.text, isNameUnique: true)
    return try openDiscovery().advertise(service) { event in
      if case .failed(let error) = event { handle(error) }
    }
  }

  func browse(
    _ type: ServiceType, _ handle: @escaping @Sendable (DiscoveryChange<NearbyPeer>) -> Void
  ) throws(DiscoveryError) -> DiscoveryCore.WatchingID {
    let discovery = try openDiscovery()
    var seen: [DiscoveredService.ID: NearbyPeer] = [:]
    let local = local.id
    let id = try discovery.browse(type) { [weak self] change in
      self?.assumeIsolated { $0.handle(change) }
      for change in Self.changes(of: &seen, change, local: local) { handle(change) }
    }
    browsedTypes[id] = type
    return id
  }

  /// Returns what a change of a service means for the peers that one watch has seen.
  private static func changes(
    of seen: inout [DiscoveredService.ID: NearbyPeer], _ change: ServiceChange, local: PeerID
  ) -> [DiscoveryChange<NearbyPeer>] {
    let id = change.service.id
    if case .removed = change { return seen.removeValue(forKey: id).map { [.removed($0)] } ?? [] }
    guard let record = NearbyRecord(change.service.txt), record.id != local else { return [] }
    let peer = NearbyPeer(record)
    guard let old = seen[id] else {
      guard seen.count < serviceLimit else { return [] }
      seen[id] = peer
      return [.added(peer)]
    }
    seen[id] = peer
    if old.id != peer.id { return [.removed(old), .added(peer)] }
    return old == peer ? [] : [.updated(peer)]
  }

  func stopBrowsing(_ id: DiscoveryCore.WatchingID) {
    discovery?.stopWatching(id)
    guard let type = browsedTypes.removeValue(forKey: id),
      !browsedTypes.values.contains(type)
    else { return }
    for entry in services.values.filter({ $0.service.type == type }) {
      handle(.removed(entry.service))
    }
  }

  func localEndpoints(limit: Int) -> [Endpoint] {
    let interfaces = (try? settings.interfaces.selected(from: Interfaces.list())) ?? []
    let addresses = interfaces.flatMap { $0.addresses.map(\.address) }
      .filter { !($0.isV6 && ($0.isLinkLocal || $0.isLoopback)) }
    return addresses.prefix(limit).map { Endpoint($0, port: port) }
  }
}
