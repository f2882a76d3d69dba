extension Name {
  private static let linkLocalDomains: [Name] = [
    "local", "254.169.in-addr.arpa", "8.e.f.ip6.arpa", "9.e.f.ip6.arpa", "a.e.f.ip6.arpa",
    "b.e.f.ip6.arpa",
  ]

  /// Whether the name is resolved by multicast only: a name within `local`, or the reverse name of
  /// a link-local address (RFC 6762 §4, §12).
  package var isLinkLocal: Bool {
    var domain = self
    while domain != .root {
      if Self.linkLocalDomains.contains(domain) { return true }
      domain = domain.parent
    }
    return false
  }
}
