import CaromCore

extension VirtualNetwork {
  /// The two network cards that a unicast passes.
  struct Route {
    let machine: Int
    let from: VirtualHost.Interface
    let to: VirtualHost.Interface
  }

  /// The way to an address: to this machine itself, or to one on a segment of its own. An address
  /// that a translator gave belongs to all of a machine's cards.
  func route(from sender: VirtualHost, to address: IPAddress) -> Route? {
    let own = sender.interfaces[0]
    if address.isLoopback { return Route(machine: sender.machine, from: own, to: own) }
    guard let machine = machine(at: address) else { return nil }
    let scope = scope(of: address)
    for to in machines[machine].interfaces
    where address.isOutside || to.v4 == address || to.v6.scoped(to: 0) == address.scoped(to: 0) {
      let from = sender.interfaces.first {
        $0.segment == to.segment && (scope == nil || scope == $0.index)
      }
      if let from { return Route(machine: machine, from: from, to: to) }
    }
    return nil
  }

  /// Addresses carry their machine's number.
  private func machine(at address: IPAddress) -> Int? {
    let number: UInt64
    switch address {
    case .v4(let value): number = UInt64(value & 0xFFFF)
    case .v6(_, let low, _): number = low & 0xFFFF
    }
    guard number > 0, number <= UInt64(machines.count) else { return nil }
    return Int(number) - 1
  }

  /// The interface that an address names.
  func scope(of address: IPAddress) -> UInt32? {
    if case .v6(_, _, let scope) = address, scope != 0 { scope } else { nil }
  }
}
