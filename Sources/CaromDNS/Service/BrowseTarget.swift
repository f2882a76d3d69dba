/// The target of a browse operation: the PTR records under one name (RFC 6763 §4, §7.1, §9, §11).
package enum BrowseTarget: Hashable, Sendable {
  /// A kind of domain list (RFC 6763 §11). The raw value is the first label of the name to query.
  package enum DomainKind: String, Hashable, Sendable, CaseIterable {
    /// The domains that are recommended for browsing.
    case browsing = "b"
    /// The domain to browse by default.
    case defaultBrowsing = "db"
    /// The domains that are recommended for registering services.
    case registration = "r"
    /// The domain in which to register services by default.
    case defaultRegistration = "dr"
    /// The domains for programs that browse without letting the user choose a domain.
    case automaticBrowsing = "lb"
  }

  /// All services of a type.
  case services(ServiceType, domain: Name = "local")
  /// The services of a type that are also published under a subtype, which is any label of 1 to 63
  /// bytes.
  case subtype([UInt8], of: ServiceType, domain: Name = "local")
  /// The services listed by the PTR records under this name, for example under a type that breaks
  /// the rules for service types.
  case named(Name)
  /// The service types that are offered in a domain.
  case types(domain: Name = "local")
  /// The domains that are recommended under a domain or under the reverse name of a subnet.
  case domains(DomainKind, in: Name = "local")

  /// Returns the name that owns the PTR records. Throws an error if the subtype or the domain is
  /// too long.
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

  /// Returns the part of each service's name after the instance: the type and the domain. Returns
  /// nil if the target lists names that are not services.
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
