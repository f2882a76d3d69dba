/// A type or a domain that browsing found.
package struct FoundName: Hashable, Sendable {
  /// The type within its domain, or the domain.
  package var name: Name
  /// The indices of the interfaces that it was heard on, ascending.
  package var interfaces: [UInt32]
}

extension FoundName {
  /// A name that was found on these interfaces; a name server's on none.
  package init(_ name: Name, on interfaces: [UInt32]) {
    self.init(name: name, interfaces: interfaces)
  }
}
