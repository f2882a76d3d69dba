import CaromDNS

/// Which services are looked for.
struct ServiceSearch: Sendable {
  let type: ServiceType
  let target: BrowseTarget
  /// Whether name servers are asked.
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
