import CaromCore
import CaromDiscovery
import CaromGroup
import CaromTransport

// The peers that are visible on the network.
extension NearbyNode {
  var nearbyPeers: [NearbyPeer] {
    var peers: [PeerID: NearbyPeer] = [:]
    for entry in services.values { peers[entry.peer.id] = entry.peer }
    for (id, entry) in added { peers[id] = entry.peer }
    return peers.values.sorted { $0.id < $1.id }
  }

  func visiblePeer(_ id: PeerID) -> NearbyPeer? {
    added[id]?.peer ?? services.values.first { $0.peer.id == id }?.peer
  }

  func handle(_ change: ServiceChange) {
    let service = change.service
    switch change {
    case .added, .updated:
      guard let record = NearbyRecord(service.txt), record.id != local.id else { return }
      let peer = NearbyPeer(record)
      let old = services[service.id]?.peer
      guard old != nil || services.count < Self.serviceLimit else { return }
      let wasVisible = visiblePeer(peer.id) != nil
      services[service.id] = (peer, service)
      // Another peer may have taken over the name of the service.
      if let old, old.id != peer.id { disappear(old) }
      _ = changes.push(wasVisible ? .updated(peer) : .added(peer))
      group.handleFound(peer.id, at: loop.now)
    case .removed:
      guard let removed = services.removeValue(forKey: service.id) else { return }
      disappear(removed.peer)
    }
    drain()
  }

  func add(_ peer: NearbyPeer, at endpoints: [Endpoint]) {
    guard peer.id != local.id else { return }
    let wasVisible = visiblePeer(peer.id) != nil
    added[peer.id] = (peer, endpoints)
    _ = changes.push(wasVisible ? .updated(peer) : .added(peer))
    group.handleFound(peer.id, at: loop.now)
    drain()
  }

  func remove(_ peer: PeerID) {
    guard let removed = added.removeValue(forKey: peer) else { return }
    disappear(removed.peer)
    drain()
  }

  /// Reports that a peer is no longer visible, unless it still is in another way. Without this
  /// check, any service could withdraw the advertisement of another peer.
  private func disappear(_ peer: NearbyPeer) {
    guard visiblePeer(peer.id) == nil else { return }
    attempts[peer.id] = nil
    _ = changes.push(.removed(peer))
    group.handleLost(peer.id, at: loop.now)
  }
}
