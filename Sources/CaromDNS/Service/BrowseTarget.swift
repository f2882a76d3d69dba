/// What a browsing looks for: the PTR records under one name (RFC 6763 §4, §7.1, §9, §11).
package enum BrowseTarget: Hashable, Sendable {
  /// Which list of domains (RFC 6763 §11); the raw value is the label that asks for it.
  package enum DomainKind: String, Hashable, Sendable, CaseIterable {
    /// Domains that are recommended for browsing.
    case browsing = "b"
    /// The one that browsing begins with.
    case defaultBrowsing = "db"
    /// Domains that are recommended for registering services.
    case registration = "r"
    /// The one that registering begins with.
    case defaultRegistration = "dr"
    /// Domains that programs browse which do not let people choose.
    case automaticBrowsing = "lb"
  }

  /// The services of a type.
  case services(ServiceType, domain: Name = "local")
  /// Those of them that are also published under a narrower type; any 1 to 63 bytes.
  case subtype([UInt8], of: ServiceType, domain: Name = "local")
  /// The services whose PTR records stand under that name, such as a type that breaks the rules
  /// for types.
  case named(Name)
  /// Which types of service there are.
  case types(domain: Name = "local")
  /// Which domains there are, as told within a domain or a subnet's reverse name.
  case domains(DomainKind, in: Name = "local")

  /// Under which name the PTR records stand; throws where a subtype or a domain is too long.
  package func name() throws(NameError) -> Name {
    switch self {
    case .services(let type, let domain): try Self.name(type.labels, domain)
    case .subtype(let label, let type, let domain):
      try Self.name([label, Array("_sub".utf8)] + type.labels, domain)
    case .named(let name): name
    case .types(let domain): try Self.name(Self.labels("_services", "_dns-sd", "_udp"), domain)
    case .domains(let kind, let domain):
      try Self.name(Self.labels(kind.rawValue, "_dns-sd", "_udp"), domain)
    }
  }

  /// Before which name the instances stand; `nil` where names are listed that are no services.
  func base() throws(NameError) -> Name? {
    switch self {
    case .subtype(_, let type, let domain): try Self.name(type.labels, domain)
    case .services, .named: try name()
    case .types, .domains: nil
    }
  }

  private static func labels(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }

  private static func name(_ labels: [[UInt8]], _ domain: Name) throws(NameError) -> Name {
    try Name(labels: labels + domain.labels)
  }
}

extension ServiceType {
  fileprivate var labels: [[UInt8]] { [Array("_\(name)".utf8), Array(transport.rawValue.utf8)] }
}
