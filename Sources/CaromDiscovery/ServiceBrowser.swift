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
  private let interfaces: InterfaceSelection
  private let loop: EventLoop?

  /// Asks nothing yet; reading `changes` does. Without a loop it runs on one that the program
  /// shares.
  public init(
    for type: ServiceType, interfaces: InterfaceSelection = .automatic, on loop: EventLoop? = nil
  ) {
    self.type = type
    self.interfaces = interfaces
    self.loop = loop
  }

  /// What comes, changes and goes, one change after the other; leaving the loop stops the
  /// queries. Each reader has a browsing of its own.
  public var changes: ServiceChanges { DiscoveryChanges(source: watch) }

  /// The same, all that is known at a time.
  public var batches: DiscoveryBatches<DiscoveredService> { DiscoveryBatches(source: watch) }

  private var watch: Watch<DiscoveredService> {
    Watch(interfaces, on: loop) { [type] discovery, handle throws(DiscoveryError) in
      let id = try await discovery.browse(type, handle)
      return { await discovery.stopBrowsing(id) }
    }
  }
}
