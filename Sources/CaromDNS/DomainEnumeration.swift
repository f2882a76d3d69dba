import CaromCore

/// The questions that tell in which domains to browse and to register (RFC 6763 §11).
package struct DomainEnumeration: Hashable, Sendable {
  /// What a domain is recommended for.
  package enum Purpose: String, CaseIterable, Hashable, Sendable {
    /// Browsing.
    case browsing = "b"
    /// Browsing, before all others.
    case defaultBrowsing = "db"
    /// Registering.
    case registration = "r"
    /// Registering, before all others.
    case defaultRegistration = "dr"
    /// Browsing by programs that let nobody choose.
    case automaticBrowsing = "lb"

    /// The name whose pointers are such domains, as `domain` knows them.
    package func name(in domain: Name) -> Name? {
      try? Name(
        labels: [rawValue, "_dns-sd", "_udp"].map { Array($0.utf8) } + domain.labels)
    }
  }

  /// Domains that are asked at most: "local", the search domains, and the subnets.
  package static let domainLimit = 32

  /// The domains to ask, "local" first.
  package let domains: [Name]

  /// Asks in "local", in the search domains, and by the subnets of the host's own addresses;
  /// loopback and link-local ones have no names with servers.
  package init(searchDomains: [Name], addresses: [Link.Address]) {
    let subnets = addresses.filter { !$0.address.isLinkLocal && !$0.address.isLoopback }
      .compactMap(\.reverseSubnet)
    var seen: Set<Name> = []
    let all = ["local"] + searchDomains + subnets
    domains = Array(all.filter { seen.insert($0).inserted }.prefix(Self.domainLimit))
  }

  /// Every question, purpose by purpose in each domain.
  package var questions: [(purpose: Purpose, domain: Name, name: Name)] {
    domains.flatMap { domain in
      Purpose.allCases.compactMap { purpose in
        purpose.name(in: domain).map { (purpose, domain, $0) }
      }
    }
  }
}

extension Link.Address {
  /// The reverse name of the subnet's base address: 192.168.12.34/16 has
  /// "0.0.168.192.in-addr.arpa" (RFC 6763 §11).
  var reverseSubnet: Name? {
    let bytes = address.bytes.enumerated().map { index, byte in
      let bits = min(8, max(0, prefixLength - index * 8))
      return byte & UInt8(truncatingIfNeeded: 0xFF00 >> bits)
    }
    let labels: [String] =
      address.isV6
      ? bytes.reversed().flatMap { [$0 & 0xF, $0 >> 4] }.map { String($0, radix: 16) }
        + ["ip6", "arpa"]
      : bytes.reversed().map { "\($0)" } + ["in-addr", "arpa"]
    return try? Name(labels: labels.map { Array($0.utf8) })
  }
}
