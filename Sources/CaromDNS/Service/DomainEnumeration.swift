/// The domains in which to query for recommended domains with `BrowseTarget.domains`
/// (RFC 6763 §11).
package enum DomainEnumeration {
  /// The maximum number of domains to query: "local", the search domains and the subnets.
  package static let domainLimit = 32

  /// Returns the domains to query: "local", then the search domains, then the reverse names of the
  /// host's subnets. Loopback and link-local subnets are omitted, because no name server serves
  /// them.
  package static func domains(searchDomains: [Name], addresses: [Link.Address]) -> [Name] {
    let subnets = addresses.compactMap(\.reverseDomain)
    var seen: Set<Name> = []
    let all = ["local"] + searchDomains + subnets
    return Array(all.filter { seen.insert($0).inserted }.prefix(domainLimit))
  }
}
