import CaromCore
import CaromDNS

extension DiscoveryCore {
  /// Which watching: for services, types, domains, strings or records.
  public enum WatchingID: Hashable, Sendable {
    case browsing(Browsing)
    case monitoring(Monitoring)
    case querying(Querying)

    /// Which browsing.
    public struct Browsing: Hashable, Sendable { let id: BrowseID }
    /// Which monitoring of strings.
    public struct Monitoring: Hashable, Sendable { let id: MonitorID }
    /// Which query for records.
    public struct Querying: Hashable, Sendable { let id: QueryID }
  }

  /// Watches for services of a type, or of one of its narrower ones; what is known already is
  /// told before this returns.
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

  /// Watches which types of service there are.
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

  /// Watches which domains the hosts of the link recommend.
  @discardableResult
  public func browseDomains(
    _ purpose: DomainBrowser.Purpose,
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
    try begin()
    guard let id = node.browse(target, at: loop.now) else { throw .tooManyQuestions }
    return watch(.browsing(.init(id: id)), handle)
  }

  private func watch(
    _ id: WatchingID, _ handle: @escaping (Querier.Event) -> Void
  ) -> WatchingID {
    watching[id] = handle
    drain()
    return id
  }

  /// Watches the strings of a service: told now where they are known, and whenever they change;
  /// `nil` where they are gone.
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
    try begin()
    guard let id = node.monitorText(of: name, at: loop.now) else { throw .tooManyQuestions }
    return watch(.monitoring(.init(id: id))) { event in
      if case .text(_, let text) = event { handle(text) }
    }
  }

  /// Watches the records of a type under a name, as `RecordQuery` has them.
  @discardableResult
  public func query(
    _ query: RecordQuery, _ handle: @escaping (DiscoveryChange<DiscoveredRecord>) -> Void
  ) throws(DiscoveryError) -> WatchingID {
    let name = try Self.linkName(query.name)
    try begin()
    guard let id = node.query(name, query.type, at: loop.now) else { throw .tooManyQuestions }
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

  /// A name that is asked for by multicast.
  static func linkName(_ text: String) throws(DiscoveryError) -> Name {
    guard let name = try? Name(text: text), name != .root else { throw .nameInvalid }
    guard name.isLinkLocal else { throw .domainNotLocal(text) }
    return name
  }

  /// Stops watching: the handler is not called again.
  public func stopWatching(_ id: WatchingID) {
    loop.preconditionCurrent("discovery")
    watching[id] = nil
    switch id {
    case .browsing(let browsing): node.stopBrowsing(browsing.id)
    case .monitoring(let monitoring): node.stopMonitoring(monitoring.id)
    case .querying(let querying): node.stopQuery(querying.id)
    }
    drain()
  }
}
