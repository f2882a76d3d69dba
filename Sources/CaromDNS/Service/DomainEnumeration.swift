/// Where to ask in which domains to browse and to register (RFC 6763 §11);
/// `BrowseTarget.domains` has the questions.
package enum DomainEnumeration {
  /// Domains that are asked at most: "local", the search domains, and the subnets.
  package static let domainLimit = 32

  /// "local" first, then the search domains, then the subnets of the host's own addresses;
  /// loopback and link-local ones have no names with servers.
  package static func domains(searchDomains: [Name], addresses: [Link.Address]) -> [Name] {
    let subnets = addresses.compactMap(\.reverseDomain)
    var seen: Set<Name> = []
    let all = ["local"] + searchDomains + subnets
    return Array(all.filter { seen.insert($0).inserted }.prefix(domainLimit))
  }
}
