/// A service type or a domain that a browse operation found.
package struct FoundName: Hashable, Sendable {
  /// The service type within its domain, or the domain.
  package var name: Name
  /// The indices of the interfaces on which the name was found, in ascending order.
  package var interfaces: [UInt32]
}

extension FoundName {
  /// Creates a result. `interfaces` is empty if a name server supplied the name.
  package init(_ name: Name, on interfaces: [UInt32]) {
    self.init(name: name, interfaces: interfaces)
  }
}
