/// Which way the questions about a name go: never both (RFC 6762 §3, §4, §12).
package enum UnicastRoute: Hashable, Sendable {
  /// To everybody on the link.
  case multicast
  /// To name servers.
  case servers

  /// What belongs to the link: "local", and the reverse names of link-local addresses.
  private static let linkDomains: Set<Name> = [
    "local", "254.169.in-addr.arpa", "8.e.f.ip6.arpa", "9.e.f.ip6.arpa", "a.e.f.ip6.arpa",
    "b.e.f.ip6.arpa",
  ]

  /// The way of `name`.
  package init(of name: Name) {
    var rest = name
    while !rest.wire.isEmpty {
      if Self.linkDomains.contains(rest) {
        self = .multicast
        return
      }
      rest = rest.parent
    }
    self = .servers
  }
}
