import CaromCore
import CaromDNS

extension DiscoveryCore {
  /// Identifies a watch for services, service types, domains, a TXT record, the endpoints of a
  /// service, or other records.
  public enum WatchingID: Hashable, Sendable {
    case browsing(Browsing)
    case monitoring(Monitoring)
    case querying(Querying)
    case resolving(Resolving)

    /// Identifies a watch on services, service types or domains.
    public struct Browsing: Hashable, Sendable { let id: BrowseID }
    /// Identifies a watch on the TXT record of one service.
    public struct Monitoring: Hashable, Sendable { let id: MonitorID }
    /// Identifies a watch on the records under one name.
    public struct Querying: Hashable, Sendable { let id: QueryID }
    /// Identifies a watch on the endpoints of one service.
    public struct Resolving: Hashable, Sendable { let id: ResolveID }
  }

  /// Watches for services of a type or, if `subtype` is given, of that subtype, and returns the
  /// watch's identifier. `handle` receives each change; services that are already in the cache are
  /// reported before this method returns. Throws `domainNotLocal` if `domain` is not link-local.
  @discardableResult
  public func browse(
    _ type: ServiceType, subtype: String? = nil, domain: String = "local",
    _ handle: @escaping (ServiceChange) -> Void
  ) throws(DiscoveryError) -> WatchingID {
    let search = try ServiceSearch(type, subtype: subtype, domain: domain)
    guard !search.isUnicast else { throw .domainNotLocal(domain) }
    return try browse(search, for: nil, handle)
  }

  func browse(
    _ search: ServiceSearch, for owner: DiscoveryActor?, _ handle: @escaping (ServiceChange) -> Void
  ) throws(DiscoveryError) -> WatchingID {
    let service = { (found: FoundService) in
      DiscoveredService(found, type: search.type, discovery: owner)
    }
    return try browse(search.target) { event in
      switch event {
      case .added(_, let found): handle(.added(service(found)))
      case .updated(_, let found): handle(.updated(service(found)))
      case .removed(_, let found): handle(.removed(service(found)))
      default: break
      }
    }
  }

  /// Watches for the service types that are offered on the link (RFC 6763 §9).
  @discardableResult
  public func browseTypes(
    _ handle: @escaping (DiscoveryChange<DiscoveredServiceType>) -> Void
  ) throws(DiscoveryError) -> WatchingID {
    try browse(.types()) { event in
      switch event {
      case .nameAdded(_, let found): handle(.added(DiscoveredServiceType(found)))
      case .nameRemoved(_, let found): handle(.removed(DiscoveredServiceType(found)))
      default: break
      }
    }
  }

  /// Watches for the domains that hosts on the link recommend (RFC 6763 §11).
  @discardableResult
  public func browseDomains(
    _ purpose: DomainPurpose,
    _ handle: @escaping (DiscoveryChange<DiscoveredDomain>) -> Void
  ) throws(DiscoveryError) -> WatchingID {
    try browse(.domains(purpose.kind)) { event in
      switch event {
      case .nameAdded(_, let found): handle(.added(DiscoveredDomain(found)))
      case .nameRemoved(_, let found): handle(.removed(DiscoveredDomain(found)))
      default: break
      }
    }
  }

  private func browse(
    _ target: BrowseTarget, _ handle: @escaping (Querier.Event) -> Void
  ) throws(DiscoveryError) -> WatchingID {
    try prepareRequest()
    guard let id = node.browse(target, at: loop.now) else { throw .tooManyQuestions }
    return watch(.browsing(.init(id: id)), handle)
  }

  func watch(
    _ id: WatchingID, _ handle: @escaping (Querier.Event) -> Void
  ) -> WatchingID {
    watching[id] = handle
    drain()
    return id
  }

  /// Watches a service's TXT record. Calls `handle` at once if the record is in the cache, then
  /// after every change, and with nil when the record is gone.
  @discardableResult
  public func monitor(
    _ service: DiscoveredService, _ handle: @escaping (TXTRecord?) -> Void
  ) throws(DiscoveryError) -> WatchingID {
    try monitor(service.fullName, handle)
  }

  @discardableResult
  func monitor(
    _ name: Name, _ handle: @escaping (TXTRecord?) -> Void
  ) throws(DiscoveryError) -> WatchingID {
    try prepareRequest()
    guard let id = node.monitorText(of: name, at: loop.now) else { throw .tooManyQuestions }
    return watch(.monitoring(.init(id: id))) { event in
      if case .text(_, let text) = event { handle(text) }
    }
  }

  /// Watches the records of one type under a name on the link, such as "maya.local"; a backslash
  /// in `name` escapes a dot within a label.
  @discardableResult
  public func query(
    _ name: String, _ type: RecordType,
    _ handle: @escaping (DiscoveryChange<DiscoveredRecord>) -> Void
  ) throws(DiscoveryError) -> WatchingID {
    let name = try Self.linkName(name)
    try prepareRequest()
    guard let id = node.query(name, type, at: loop.now) else { throw .tooManyQuestions }
    return watch(.querying(.init(id: id))) { event in
      switch event {
      case .recordAdded(_, let record, let interface):
        handle(.added(DiscoveredRecord(record, interface)))
      case .recordRemoved(_, let record, let interface):
        handle(.removed(DiscoveredRecord(record, interface)))
      default: break
      }
    }
  }

  /// Parses a name that is queried by multicast. Throws `nameInvalid` if `text` is not a valid
  /// name, and `domainNotLocal` if the name is outside the link.
  static func linkName(_ text: String) throws(DiscoveryError) -> Name {
    guard let name = try? Name(text: text), name != .root else { throw .nameInvalid }
    guard name.isLinkLocal || name.isPrivateReverse else { throw .domainNotLocal(text) }
    return name
  }

  /// Stops a watch. Its handler is not called again.
  public func stopWatching(_ id: WatchingID) {
    loop.preconditionCurrent("discovery")
    watching[id] = nil
    switch id {
    case .browsing(let browsing): node.stopBrowsing(browsing.id)
    case .monitoring(let monitoring): node.stopMonitoring(monitoring.id)
    case .querying(let querying): node.stopQuery(querying.id)
    case .resolving(let resolving): node.cancelResolve(resolving.id)
    }
    drain()
  }
}
