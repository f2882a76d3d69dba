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

extension FoundService {
  /// A service that a name server told of, under a type within its domain; no interface is its.
  package init(_ name: Name, of type: Name) {
    self.init(name: name, text: nil, interfaces: [], instance: name.prefix(before: type))
  }
}
