import CaromDNS
import CaromTransport

/// Watches for services of one type.
///
/// ```swift
/// for try await change in ServiceBrowser(for: "_airhockey._tcp").changes {
///   if case .added(let match) = change { return try await match.resolve(within: .seconds(2)) }
/// }
/// ```
public struct ServiceBrowser: Sendable {
  /// The service type to browse for.
  public let type: ServiceType
  /// The subtype to browse for (RFC 6763 §7.1), such as "_ranked"; nil finds every service of
  /// `type`.
  public let subtype: String?
  /// The domain to browse. The domain "local" is the local link, which is queried by multicast; for
  /// any other domain, name servers are queried.
  public let domain: String
  private let interfaces: InterfaceSelection
  private let loop: NetworkLoop?

  /// Creates a browser without sending anything; queries start when `changes` or `batches` is read.
  /// If `loop` is nil, the loop that the whole program shares is used.
  public init(
    for type: ServiceType, subtype: String? = nil, domain: String = "local",
    interfaces: InterfaceSelection = .automatic, on loop: NetworkLoop? = nil
  ) {
    self.type = type
    self.subtype = subtype
    self.domain = domain
    self.interfaces = interfaces
    self.loop = loop
  }

  /// The services, as a stream of single changes. Leaving the `for` loop stops the queries. Each
  /// reader starts its own browse operation.
  public var changes: ServiceChanges { DiscoveryChanges(source: source) }

  /// The same changes as `changes`, delivered in batches.
  public var batches: DiscoveryBatches<DiscoveredService> { DiscoveryBatches(source: source) }

  private var source: ChangeSource<DiscoveredService> {
    ChangeSource(interfaces, on: loop) { [self] discovery, handle throws(DiscoveryError) in
      let search = try ServiceSearch(type, subtype: subtype, domain: domain)
      return try discovery.browse(search, handle)
    }
  }
}
