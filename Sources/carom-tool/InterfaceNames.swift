import CaromCore
import CaromTransport

/// A cache of the names of this host's interfaces, by index.
final class InterfaceNames: Sendable {
  private let names = Locked<[UInt32: String]>([:])

  /// The name of the interface with the given index, or the index as text if there is no such
  /// interface.
  subscript(index: UInt32) -> String {
    names.withLock { names in
      if names[index] == nil {
        for interface in (try? Interfaces.list()) ?? [] { names[interface.index] = interface.name }
      }
      return names[index] ?? "\(index)"
    }
  }

  subscript(indices: [UInt32]) -> [String] { indices.map { self[$0] } }

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
