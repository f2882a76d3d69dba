import CaromDNS

/// The services that a browse operation looks for: a type, optionally a subtype, and a domain.
struct ServiceSearch: Sendable {
  let type: ServiceType
  let target: BrowseTarget
  /// Whether the domain is queried through name servers instead of by multicast.
  let isUnicast: Bool

  init(_ type: ServiceType, subtype: String?, domain: String) throws(DiscoveryError) {
    guard let name = try? Name(text: domain), name != .root else { throw .nameInvalid }
    isUnicast = !name.isLinkLocal
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
