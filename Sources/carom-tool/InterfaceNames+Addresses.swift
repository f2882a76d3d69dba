import CaromCore

// Addresses with the names of their interfaces.
extension InterfaceNames {
  /// Returns an address as people write it, with the name of the interface as its scope, such as
  /// "fe80::1%eth0".
  func text(of address: IPAddress) -> String {
    guard case .v6(let high, let low, let scope) = address, scope != 0 else {
      return address.description
    }
    return "\(IPAddress.v6(high: high, low: low, scope: 0))%\(self[scope])"
  }

  /// Returns an endpoint as people write it, with the name of the interface as its address's scope.
  func text(of endpoint: Endpoint) -> String {
    let address = text(of: endpoint.address)
    return endpoint.address.isV6 ? "[\(address)]:\(endpoint.port)" : "\(address):\(endpoint.port)"
  }
}
