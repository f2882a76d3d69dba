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
    let labels =
      address.isV6
      ? bytes.reversed().flatMap { [$0 & 15, $0 >> 4] }.map { String($0, radix: 16) }
        + ["ip6", "arpa"]
      : bytes.reversed().map { String($0) } + ["in-addr", "arpa"]
    return try? Name(labels: labels.map { Array($0.utf8) })
  }
}
