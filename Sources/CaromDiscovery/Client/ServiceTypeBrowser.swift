import CaromDNS
import CaromTransport

/// Watches the service types that hosts on the link offer (RFC 6763 §9).
public struct ServiceTypeBrowser: Sendable {
  private let interfaces: InterfaceSelection
  private let loop: NetworkLoop?

  /// Creates a browser without sending anything; queries start when `changes` or `batches` is read.
  /// If `loop` is nil, the loop that the whole program shares is used.
  public init(interfaces: InterfaceSelection = .automatic, on loop: NetworkLoop? = nil) {
    self.interfaces = interfaces
    self.loop = loop
  }

  /// The offered service types, as a stream of single changes. Leaving the `for` loop stops the
  /// queries.
  public var changes: DiscoveryChanges<DiscoveredServiceType> { DiscoveryChanges(source: source) }

  /// The same changes as `changes`, delivered in batches.
  public var batches: DiscoveryBatches<DiscoveredServiceType> { DiscoveryBatches(source: source) }

  private var source: ChangeSource<DiscoveredServiceType> {
    ChangeSource(interfaces, on: loop) { discovery, handle throws(DiscoveryError) in
      try discovery.browseTypes(handle)
    }
  }
}
