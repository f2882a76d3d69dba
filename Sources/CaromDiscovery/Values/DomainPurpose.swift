import CaromDNS

/// The purpose that a domain is recommended for (RFC 6763 §11).
public enum DomainPurpose: Hashable, Sendable, CaseIterable {
  /// Domains to browse for services in.
  case browsing
  /// The domain to browse by default.
  case defaultBrowsing
  /// Domains to register services in.
  case registration
  /// The domain to register services in by default.
  case defaultRegistration
  /// Domains to browse in programs that do not let the user choose a domain.
  case automaticBrowsing

  var kind: BrowseTarget.DomainKind {
    switch self {
    case .browsing: .browsing
    case .defaultBrowsing: .defaultBrowsing
    case .registration: .registration
    case .defaultRegistration: .defaultRegistration
    case .automaticBrowsing: .automaticBrowsing
    }
  }
}
