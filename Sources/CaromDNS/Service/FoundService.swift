/// A service that a browse operation found.
package struct FoundService: Hashable, Sendable {
  /// The full name: instance, type and domain.
  package var name: Name
  /// The TXT record, or nil if it is not known yet.
  package var text: TXTRecord?
  /// The indices of the interfaces on which the service was found, in ascending order.
  package var interfaces: [UInt32]

  /// The user-visible name: everything before the type. Some publishers split a name that contains
  /// dots into several labels.
  package var instance: String
}

extension FoundService {
  /// Creates the result for a service of `type` that was listed by a name server and therefore has
  /// no interfaces.
  package init(_ name: Name, of type: Name) {
    self.init(name: name, text: nil, interfaces: [], instance: name.prefix(before: type))
  }
}
