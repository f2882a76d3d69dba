import CaromCore
import CaromDNS
import CaromTransport

/// A service that browsing found: a name that stays valid while addresses change.
public struct DiscoveredService: Sendable {
  /// What people see.
  public let name: String
  /// What it speaks.
  public let type: ServiceType
  /// The strings beside it; empty until they are known, an update follows then.
  public let txt: TXTRecord
  /// The indices of the interfaces that it was heard on, ascending.
  public let interfaces: [UInt32]
  /// Its whole name on the link.
  package let fullName: Name
  let discovery: DiscoveryActor?

  init(_ found: FoundService, type: ServiceType, discovery: DiscoveryActor?) {
    name = found.instance
    self.type = type
    txt = found.text ?? TXTRecord()
    interfaces = found.interfaces
    fullName = found.name
    self.discovery = discovery
  }

  /// Learns where it listens now. Throws `timedOut` where nobody answers in time.
  public func resolve(
    within limit: Duration = .seconds(5)
  ) async throws(DiscoveryError) -> ResolvedService {
    guard let discovery else { throw .closed }
    return try await discovery.resolve(fullName, within: limit)
  }

  /// Its strings as they are and as they change; empty where it has none, or is gone.
  public var txtRecords: Latest<TXTRecord> {
    Latest { [discovery, fullName] in
      Latest.watch { () throws(DiscoveryError) in
        guard let discovery else { throw .closed }
        return (discovery, fullName)
      }
    }
  }

  /// Says that it does not answer: it is asked for again, and reported as removed in ten
  /// seconds unless it is heard of.
  public func reconfirm() async {
    await discovery?.reconfirm(fullName)
  }
}

extension DiscoveredService: Identifiable {
  /// What stays the same while the service is there: its whole name, whatever else changes.
  public struct ID: Hashable, Sendable, CustomStringConvertible {
    let name: Name

    /// The whole name: "Maya's table._airhockey._tcp.local".
    public var description: String { name.description }
  }

  /// The service's identity.
  public var id: ID { ID(name: fullName) }
}

extension DiscoveredService: Hashable {
  /// Equal where name, type and strings are.
  public static func == (a: DiscoveredService, b: DiscoveredService) -> Bool {
    a.fullName == b.fullName && a.type == b.type && a.txt == b.txt
  }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(fullName) }
}
