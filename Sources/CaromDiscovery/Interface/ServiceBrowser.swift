import CaromDNS
import CaromTransport

/// Watches for services of one type.
///
/// ```swift
/// for try await change in ServiceBrowser(for: "_airhockey._tcp").changes {
///   if case .added(let table) = change { return try await table.resolve(within: .seconds(2)) }
/// }
/// ```
public struct ServiceBrowser: Sendable {
  /// What is looked for.
  public let type: ServiceType
  /// The narrower type that is looked for (RFC 6763 §7.1), such as "_ranked"; `nil` for all.
  public let subtype: String?
  /// Where is looked: "local" is the link.
  public let domain: String
  private let interfaces: InterfaceSelection
  private let loop: NetworkLoop?

  /// Asks nothing yet; reading `changes` does. Without a loop it runs on one that the program
  /// shares.
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

  /// What comes, changes and goes, one change after the other; leaving the loop stops the
  /// queries. Each reader has a browsing of its own.
  public var changes: ServiceChanges { DiscoveryChanges(source: watch) }

  /// The same, all that is known at a time.
  public var batches: DiscoveryBatches<DiscoveredService> { DiscoveryBatches(source: watch) }

  private var watch: Watch<DiscoveredService> {
    Watch(interfaces, on: loop) { [self] discovery, handle throws(DiscoveryError) in
      let search = try ServiceSearch(type, subtype: subtype, domain: domain)
      return try discovery.browse(search, handle)
    }
  }
}
