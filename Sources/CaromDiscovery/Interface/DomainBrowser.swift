import CaromDNS
import CaromTransport

/// Watches which domains the hosts of the link recommend (RFC 6763 §11).
public struct DomainBrowser: Sendable {
  /// What the domains are for.
  public enum Purpose: Hashable, Sendable, CaseIterable {
    /// Browsing.
    case browsing
    /// Browsing, before all others.
    case defaultBrowsing
    /// Registering services.
    case registration
    /// Registering services, before all others.
    case defaultRegistration
    /// Browsing by programs that let nobody choose.
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

  /// What the domains are for.
  public let purpose: Purpose
  private let interfaces: InterfaceSelection
  private let loop: NetworkLoop?

  /// Asks nothing yet; reading `changes` does. Without a loop it runs on one that the program
  /// shares.
  public init(
    _ purpose: Purpose = .browsing, interfaces: InterfaceSelection = .automatic,
    on loop: NetworkLoop? = nil
  ) {
    self.purpose = purpose
    self.interfaces = interfaces
    self.loop = loop
  }

  /// The domains that come and go; leaving the loop stops the queries.
  public var changes: DiscoveryChanges<DiscoveredDomain> { DiscoveryChanges(source: watch) }

  /// The same, all that is known at a time.
  public var batches: DiscoveryBatches<DiscoveredDomain> { DiscoveryBatches(source: watch) }

  private var watch: Watch<DiscoveredDomain> {
    Watch(interfaces, on: loop) { [purpose] discovery, handle throws(DiscoveryError) in
      try discovery.browseDomains(purpose, handle)
    }
  }
}
