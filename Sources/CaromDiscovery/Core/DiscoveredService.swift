import CaromCore
import CaromDNS
import CaromTransport

/// A service that a browser found. Its name stays valid while its addresses change.
public struct DiscoveredService: Sendable {
  /// The service's name as users see it.
  public let name: String
  /// The service's type.
  public let type: ServiceType
  /// The service's TXT record. Until it is received, `txt` is empty; its arrival is reported as an
  /// update.
  public let txt: TXTRecord
  /// The indices of the interfaces on which the service was found, in ascending order.
  public let interfaces: [UInt32]
  /// The fully qualified name of the service instance.
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

  /// Resolves the endpoints at which the service can be reached. Throws `timedOut` if no answer
  /// arrives within `limit`.
  public func resolve(
    within limit: Duration = .seconds(5)
  ) async throws(DiscoveryError) -> ResolvedService {
    guard let discovery else { throw .closed }
    return try await discovery.resolve(fullName, within: limit)
  }

  /// The service's current endpoints, followed by the new ones after each change, for example when
  /// an address is announced late. While the service cannot be resolved, no value is delivered.
  public var resolutions: LatestValues<ResolvedService> { LatestValues(of: watched) }

  /// The service's current TXT record, followed by each changed record. An empty record means that
  /// the service has none or is gone.
  public var txtRecords: LatestValues<TXTRecord> { LatestValues(of: watched) }

  private func watched() throws(DiscoveryError) -> (DiscoveryActor, [Name]) {
    guard let discovery else { throw .closed }
    return (discovery, [fullName])
  }

  /// Queries again for the service. Call this method if the service does not respond: it is
  /// reported as removed after ten seconds unless it answers (RFC 6762 §10.4).
  public func reconfirm() async {
    await discovery?.reconfirm(fullName)
  }
}

extension DiscoveredService: Identifiable {
  /// The fully qualified name, which identifies the service across all of its changes.
  public struct ID: Hashable, Sendable, CustomStringConvertible {
    let name: Name

    /// The fully qualified name in text form, such as "Maya's match._airhockey._tcp.local".
    public var description: String { name.description }
  }

  /// The service's identity.
  public var id: ID { ID(name: fullName) }
}

extension DiscoveredService: Hashable {
  /// Compares the fully qualified name, the type and the TXT record.
  public static func == (a: DiscoveredService, b: DiscoveredService) -> Bool {
    a.fullName == b.fullName && a.type == b.type && a.txt == b.txt
  }

  /// Hashes the fully qualified name.
  public func hash(into hasher: inout Hasher) { hasher.combine(fullName) }
}

/// A change to the set of services that a browser found.
public typealias ServiceChange = DiscoveryChange<DiscoveredService>

extension DiscoveryChange where Item == DiscoveredService {
  /// The service that changed.
  public var service: DiscoveredService { item }
}

extension LatestValues {
  /// Creates the sequence of the values that a service has under the names that `find` returns.
  /// `start` starts the watch on one of the names.
  init(
    _ find: @escaping @Sendable () throws(DiscoveryError) -> (DiscoveryActor, [Name]),
    _ start:
      @escaping @Sendable (
        isolated DiscoveryActor, Name, @escaping DiscoveryActor.Listener<Value>
      ) throws(DiscoveryError) -> DiscoveryActor.Handle
  ) {
    self.init {
      CoalescingStream.read(Self.makeStream()) { send, finish throws(DiscoveryError) in
        let (discovery, names) = try find()
        return try await discovery.start(for: names) { discovery, name throws(DiscoveryError) in
          let loop = discovery.loop
          return try start(discovery, name) { result in
            switch result {
            case .success(let value): send(value, 0, loop)
            case .failure(let error): finish(error)
            }
          }
        }
      }
    }
  }
}

extension LatestValues<TXTRecord> {
  /// Creates the sequence of the TXT records that a service has under the names that `find`
  /// returns.
  init(of find: @escaping @Sendable () throws(DiscoveryError) -> (DiscoveryActor, [Name])) {
    self.init(find) { discovery, name, listener throws(DiscoveryError) in
      try discovery.monitor(name) { listener($0.map { $0 ?? [:] }) }
    }
  }
}

extension LatestValues<ResolvedService> {
  /// Creates the sequence of the endpoints that a service has under the names that `find` returns.
  init(of find: @escaping @Sendable () throws(DiscoveryError) -> (DiscoveryActor, [Name])) {
    self.init(find) { discovery, name, listener throws(DiscoveryError) in
      try discovery.watchEndpoints(of: name, listener)
    }
  }
}
