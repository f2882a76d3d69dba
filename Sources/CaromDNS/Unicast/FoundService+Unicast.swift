extension FoundService {
  /// A service that a name server told of, under a type within its domain; no interface is its.
  package init(_ name: Name, of type: Name) {
    self.init(name: name, text: nil, interfaces: [], instance: name.prefix(before: type))
  }
}
