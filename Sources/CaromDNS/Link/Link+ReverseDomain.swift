import CaromCore

extension Link.Address {
  /// The reverse name of the address's subnet, under which a name server can list domains (RFC 6763
  /// §11), or nil for link-local and loopback addresses.
  package var reverseDomain: Name? {
    guard !address.isLinkLocal, !address.isLoopback else { return nil }
    var bytes = address.bytes
    for index in bytes.indices {
      let bits = min(8, max(0, prefixLength - index * 8))
      bytes[index] &= UInt8(truncatingIfNeeded: 0xFF00 >> bits)
    }
    return Name(reverse: bytes, isV6: address.isV6)
  }
}

extension IPAddress {
  /// The name whose PTR record names the host with this address (RFC 1035 §3.5, RFC 3596 §2.5).
  package var reverseName: Name { Name(reverse: bytes, isV6: isV6) }
}

extension Name {
  fileprivate init(reverse bytes: [UInt8], isV6: Bool) {
    let labels =
      isV6
      ? bytes.reversed().flatMap { [$0 & 15, $0 >> 4] }.map { String($0, radix: 16) }
        + ["ip6", "arpa"]
      : bytes.reversed().map { String($0) } + ["in-addr", "arpa"]
    // At most 34 labels of at most seven bytes.
    self.init(wire: labels.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) })
  }

  private static let privateDomains: [Name] =
    ["10.in-addr.arpa", "168.192.in-addr.arpa", "c.f.ip6.arpa", "d.f.ip6.arpa"]
    + (16...31).compactMap { try? Name(text: "\($0).172.in-addr.arpa") }

  /// Whether the name is the reverse name of a private address (RFC 1918, RFC 4193). The hosts on
  /// the link know such addresses, and name servers may know them too.
  package var isPrivateReverse: Bool {
    var domain = self
    while domain != .root {
      if Self.privateDomains.contains(domain) { return true }
      domain = domain.parent
    }
    return false
  }
}
