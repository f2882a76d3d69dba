/// A type or a domain that browsing found.
package struct FoundName: Hashable, Sendable {
  /// The type within its domain, or the domain.
  package var name: Name
  /// The indices of the interfaces that it was heard on, ascending.
  package var interfaces: [UInt32]
}
