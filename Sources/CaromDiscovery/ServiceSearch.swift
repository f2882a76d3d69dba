import CaromDNS

/// Which services are looked for.
struct ServiceSearch: Sendable {
  let type: ServiceType
  let target: BrowseTarget

  init(_ type: ServiceType, subtype: String?, domain: String) throws(DiscoveryError) {
    let name = try DiscoveryCore.linkName(domain)
    self.type = type
    target =
      if let subtype {
        .subtype(Array(subtype.utf8), of: type, domain: name)
      } else {
        .services(type, domain: name)
      }
    do throws(NameError) { _ = try target.name() } catch { throw .subtypeInvalid }
  }
}
