import CaromDNS
import CaromTransport

/// Watches the records of one type under one name, such as the addresses of "maya.local".
public struct RecordQuery: Sendable {
  /// Whose records; "\" escapes a dot within a label.
  public let name: String
  /// Which records; `RecordType.any` for all.
  public let type: RecordType
  private let interfaces: InterfaceSelection
  private let loop: NetworkLoop?

  /// Asks nothing yet; reading `changes` does. Without a loop it runs on one that the program
  /// shares.
  public init(
    _ name: String, _ type: RecordType, interfaces: InterfaceSelection = .automatic,
    on loop: NetworkLoop? = nil
  ) {
    self.name = name
    self.type = type
    self.interfaces = interfaces
    self.loop = loop
  }

  /// The records that come and go; leaving the loop stops the question.
  public var changes: DiscoveryChanges<DiscoveredRecord> { DiscoveryChanges(source: watch) }

  /// The same, all that is known at a time.
  public var batches: DiscoveryBatches<DiscoveredRecord> { DiscoveryBatches(source: watch) }

  private var watch: Watch<DiscoveredRecord> {
    Watch(interfaces, on: loop) { discovery, handle throws(DiscoveryError) in
      try discovery.query(self, handle)
    }
  }
}
