import CaromDNS
import CaromTransport

/// Watches the domains that hosts on the link and name servers recommend (RFC 6763 §11).
public struct DomainBrowser: Sendable {
  /// The purpose for which the domains are recommended.
  public let purpose: DomainPurpose
  private let interfaces: InterfaceSelection
  private let loop: NetworkLoop?

  /// Creates a browser without sending anything; queries start when `changes` or `batches` is read.
  /// If `loop` is nil, the loop that the whole program shares is used.
  public init(
    _ purpose: DomainPurpose = .browsing, interfaces: InterfaceSelection = .automatic,
    on loop: NetworkLoop? = nil
  ) {
    self.purpose = purpose
    self.interfaces = interfaces
    self.loop = loop
  }

  /// The recommended domains, as a stream of single changes. Leaving the `for` loop stops the
  /// queries.
  public var changes: DiscoveryChanges<DiscoveredDomain> { DiscoveryChanges(source: source) }

  /// The same changes as `changes`, delivered in batches.
  public var batches: DiscoveryBatches<DiscoveredDomain> { DiscoveryBatches(source: source) }

  private var source: ChangeSource<DiscoveredDomain> {
    ChangeSource(interfaces, on: loop) { [purpose] discovery, handle throws(DiscoveryError) in
      try discovery.browseDomains(purpose, handle)
    }
  }
}
