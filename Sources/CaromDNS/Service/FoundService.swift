/// A service that browsing found.
package struct FoundService: Hashable, Sendable {
  /// Its whole name: instance, type, domain.
  package var name: Name
  /// Its strings, once they are known.
  package var text: TXTRecord?
  /// The indices of the interfaces that it was heard on, ascending.
  package var interfaces: [UInt32]

  /// What people see: what stands before the type; some publishers make several labels of a
  /// name with dots.
  package var instance: String
}
