import CaromCore
import CaromDNS
import CaromTransport

/// Watches the records of one type under one name, such as the addresses of "maya.local".
public struct RecordQuery: Sendable {
  /// The name that owns the records; a backslash escapes a dot within a label.
  public let name: String
  /// The type of the records; `RecordType.any` matches every type.
  public let type: RecordType
  private let interfaces: InterfaceSelection
  private let loop: NetworkLoop?

  /// Creates a query without sending anything; queries start when `changes` or `batches` is read.
  /// If `loop` is nil, the loop that the whole program shares is used.
  public init(
    _ name: String, _ type: RecordType, interfaces: InterfaceSelection = .automatic,
    on loop: NetworkLoop? = nil
  ) {
    self.name = name
    self.type = type
    self.interfaces = interfaces
    self.loop = loop
  }

  /// Creates a query for the names of the host that has `address`. The hosts on the link are asked
  /// about link-local and private addresses; name servers are asked about all addresses except
  /// link-local ones.
  public init(
    hostNamesOf address: IPAddress, interfaces: InterfaceSelection = .automatic,
    on loop: NetworkLoop? = nil
  ) {
    self.init(address.reverseName.description, .ptr, interfaces: interfaces, on: loop)
  }

  /// The matching records, as a stream of single changes. Leaving the `for` loop stops the
  /// queries.
  public var changes: DiscoveryChanges<DiscoveredRecord> { DiscoveryChanges(source: source) }

  /// The same changes as `changes`, delivered in batches.
  public var batches: DiscoveryBatches<DiscoveredRecord> { DiscoveryBatches(source: source) }

  private var source: ChangeSource<DiscoveredRecord> {
    ChangeSource(interfaces, on: loop) { [name, type] discovery, handle throws(DiscoveryError) in
      try discovery.query(name, type, handle)
    }
  }
}
