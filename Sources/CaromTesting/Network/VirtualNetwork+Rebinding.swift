import CaromCore

extension VirtualNetwork {
  /// Rebinds the NAT in front of a machine. Afterwards, other machines see a new source port or
  /// address. Packets to the old port or address are lost, including packets in flight.
  public mutating func rebind(_ host: VirtualHost, changing change: Rebinding.Change = .port) {
    switch change {
    case .port: machines[host.machine].rebindings.port += 1
    case .address: machines[host.machine].rebindings.address += 1
    }
    recordFault("rebound \(change)", of: host)
  }

  /// Returns how many times the NAT in front of a link's sender has changed the source port, and
  /// how many times the source address.
  func epoch(of link: Int) -> NATMapping.Epoch {
    var epoch = machines[links[link].from].rebindings
    guard let rebinding = links[link].conditions.rebinding else { return epoch }
    switch rebinding.change {
    case .port: epoch.port += rebinding.count(at: now)
    case .address: epoch.address += rebinding.count(at: now)
    }
    return epoch
  }

  /// Returns the endpoint that the receiver of a packet sees as its source, after translation by a
  /// NAT.
  mutating func externalSource(
    _ source: Endpoint, of card: VirtualHost.Interface, over link: Int
  ) -> Endpoint {
    let from = links[link].from
    guard from != links[link].to else { return source }
    let epoch = epoch(of: link)
    if epoch == .init() { return source }
    let port = links[link].natMapping.externalPort(of: source.port, epoch: epoch.port) {
      machines[from].allocateExternalPort()
    }
    return Endpoint(card.externalAddress(of: source.address, epoch: epoch.address), port: port)
  }

  /// Translates the destination of a packet to the endpoint on the receiving machine. Returns nil
  /// if the destination is a mapping that the NAT has forgotten.
  mutating func internalEndpoint(
    _ destination: Endpoint, by interface: UInt32, over link: Int
  ) -> Endpoint? {
    let (from, to) = (links[link].from, links[link].to)
    guard from != to else { return destination }
    let reverse = links[link].reverse ?? self.link(from: to, to: from)
    let epoch = epoch(of: reverse)
    let card = machines[to].interfaces[Int(interface) - 2]
    let own = destination.address.isV6 ? card.v6 : card.v4
    guard destination.address == card.externalAddress(of: own, epoch: epoch.address),
      let port = links[reverse].natMapping.internalPort(of: destination.port, epoch: epoch.port)
    else { return nil }
    return Endpoint(own, port: port)
  }
}
