import CaromCore

extension VirtualNetwork {
  /// Lets the translator in front of a machine forget it: from now on others see another source
  /// port or address, and what goes to the old one is lost. Datagrams that are on their way to the
  /// machine are lost too.
  public mutating func rebind(_ host: VirtualHost, changing change: Rebinding.Change = .port) {
    switch change {
    case .port: machines[host.machine].rebindings.port += 1
    case .address: machines[host.machine].rebindings.address += 1
    }
    recordFault("rebound \(change)", of: host)
  }

  /// How often the source that a link shows has changed.
  func epoch(of link: Int) -> NATMapping.Epoch {
    var epoch = machines[links[link].from].rebindings
    guard let rebinding = links[link].conditions.rebinding else { return epoch }
    switch rebinding.change {
    case .port: epoch.port += rebinding.count(at: now)
    case .address: epoch.address += rebinding.count(at: now)
    }
    return epoch
  }

  /// The source that the receiver sees.
  mutating func outside(
    _ source: Endpoint, of card: VirtualHost.Interface, over link: Int
  ) -> Endpoint {
    let from = links[link].from
    guard from != links[link].to else { return source }
    let epoch = epoch(of: link)
    if epoch == .init() { return source }
    let port = links[link].translation.outsidePort(of: source.port, epoch: epoch.port) {
      machines[from].freeOutsidePort()
    }
    return Endpoint(card.outside(source.address, epoch: epoch.address), port: port)
  }

  /// The endpoint that a datagram or a call over a link reaches; `nil` where it went to a source
  /// that a translator has forgotten.
  mutating func inside(
    _ destination: Endpoint, by interface: UInt32, over link: Int
  ) -> Endpoint? {
    let (from, to) = (links[link].from, links[link].to)
    guard from != to else { return destination }
    let reverse = links[link].reverse ?? self.link(from: to, to: from)
    let epoch = epoch(of: reverse)
    let card = machines[to].interfaces[Int(interface) - 2]
    let own = destination.address.isV6 ? card.v6 : card.v4
    guard destination.address == card.outside(own, epoch: epoch.address),
      let port = links[reverse].translation.insidePort(of: destination.port, epoch: epoch.port)
    else { return nil }
    return Endpoint(own, port: port)
  }
}
