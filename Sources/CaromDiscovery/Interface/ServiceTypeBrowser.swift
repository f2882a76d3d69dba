import CaromDNS
import CaromTransport

/// Watches which types of service are offered at all (RFC 6763 §9).
public struct ServiceTypeBrowser: Sendable {
  private let interfaces: InterfaceSelection
  private let loop: NetworkLoop?

  /// Asks nothing yet; reading `changes` does. Without a loop it runs on one that the program
  /// shares.
  public init(interfaces: InterfaceSelection = .automatic, on loop: NetworkLoop? = nil) {
    self.interfaces = interfaces
    self.loop = loop
  }

  /// The types that come and go; leaving the loop stops the queries.
  public var changes: DiscoveryChanges<DiscoveredServiceType> { DiscoveryChanges(source: watch) }

  /// The same, all that is known at a time.
  public var batches: DiscoveryBatches<DiscoveredServiceType> { DiscoveryBatches(source: watch) }

  private var watch: Watch<DiscoveredServiceType> {
    Watch(interfaces, on: loop) { discovery, handle throws(DiscoveryError) in
      try discovery.browseTypes(handle)
    }
  }
}
