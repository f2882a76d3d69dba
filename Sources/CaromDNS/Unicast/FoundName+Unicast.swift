extension FoundName {
  /// A name that was found on these interfaces; a name server's on none.
  package init(_ name: Name, on interfaces: [UInt32]) {
    self.init(name: name, interfaces: interfaces)
  }
}
