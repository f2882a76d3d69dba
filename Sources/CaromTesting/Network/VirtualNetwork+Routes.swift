import CaromCore

extension VirtualNetwork {
  /// The two interfaces through which a unicast packet passes, and the number of the receiving
  /// machine.
  struct Route {
    let machine: Int
    let from: VirtualHost.Interface
    let to: VirtualHost.Interface
  }

  /// Returns the route to an address of the sender's own machine or of a machine on the same
  /// segment. An external address of a NAT belongs to all interfaces of its machine. Returns nil if
  /// the address cannot be reached.
  func route(from sender: VirtualHost, to address: IPAddress) -> Route? {
    let own = sender.interfaces[0]
    if address.isLoopback { return Route(machine: sender.machine, from: own, to: own) }
    guard let machine = machine(at: address) else { return nil }
    let scope = scope(of: address)
    for to in machines[machine].interfaces
    where address.isExternal || to.v4 == address || to.v6.scoped(to: 0) == address.scoped(to: 0) {
      let from = sender.interfaces.first {
        $0.segment == to.segment && (scope == nil || scope == $0.index)
      }
      if let from { return Route(machine: machine, from: from, to: to) }
    }
    return nil
  }

  /// Returns the number of the machine that has an address, or nil if no machine has it. The
  /// address's low 16 bits are the machine's number plus one.
  private func machine(at address: IPAddress) -> Int? {
    let number: UInt64
    switch address {
    case .v4(let value): number = UInt64(value & 0xFFFF)
    case .v6(_, let low, _): number = low & 0xFFFF
    }
    guard number > 0, number <= UInt64(machines.count) else { return nil }
    return Int(number) - 1
  }

  /// Returns the interface index that is the scope of an IPv6 address, or nil if the address has no
  /// scope.
  func scope(of address: IPAddress) -> UInt32? {
    if case .v6(_, _, let scope) = address, scope != 0 { scope } else { nil }
  }
}
