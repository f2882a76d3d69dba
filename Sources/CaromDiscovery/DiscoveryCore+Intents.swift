import CaromCore
import CaromDNS

extension DiscoveryCore {
  /// Which advertised service.
  public struct AdvertisingID: Hashable, Sendable {
    let id: PublicationID
  }

  /// Which browsing.
  public struct BrowsingID: Hashable, Sendable {
    let id: BrowseID
  }

  /// Which resolving.
  public struct ResolvingID: Hashable, Sendable {
    let id: ResolveID
  }

  /// Makes a service visible; the handler hears how that goes.
  @discardableResult
  public func advertise(
    _ service: Service, _ handle: @escaping (AdvertisingEvent) -> Void
  ) throws(DiscoveryError) -> AdvertisingID {
    loop.preconditionCurrent("discovery")
    try service.validate()
    refreshUnicast()
    let id: PublicationID
    do throws(PublicationError) {
      id = try node.publish(service.registration, at: loop.now)
    } catch {
      throw DiscoveryError(error)
    }
    advertising[id] = handle
    drain()
    return AdvertisingID(id: id)
  }

  /// Changes the strings beside an advertised service.
  public func update(_ id: AdvertisingID, txt: TXTRecord) {
    loop.preconditionCurrent("discovery")
    try? node.update(id.id, text: txt, at: loop.now)
    drain()
  }

  /// Takes a service back: its goodbye has left when this returns.
  public func withdraw(_ id: AdvertisingID) {
    loop.preconditionCurrent("discovery")
    advertising[id.id] = nil
    node.withdraw(id.id, at: loop.now)
    drain()
  }

  /// Watches for services of a type; what is known already is told before this returns.
  @discardableResult
  public func browse(
    _ type: ServiceType, _ handle: @escaping (ServiceChange) -> Void
  ) -> BrowsingID {
    browse(type, for: nil, handle)
  }

  func browse(
    _ type: ServiceType, for owner: DiscoveryActor?, _ handle: @escaping (ServiceChange) -> Void
  ) -> BrowsingID {
    loop.preconditionCurrent("discovery")
    refreshUnicast()
    let id = node.browse(type, at: loop.now)
    let service = { (found: FoundService) in
      DiscoveredService(found, type: type, discovery: owner)
    }
    browsing[id] = { event in
      switch event {
      case .added(_, let found): handle(.added(service(found)))
      case .updated(_, let found): handle(.updated(service(found)))
      case .removed(_, let found): handle(.removed(service(found)))
      default: break
      }
    }
    drain()
    return BrowsingID(id: id)
  }

  /// Stops watching: the handler is not called again.
  public func stopBrowsing(_ id: BrowsingID) {
    loop.preconditionCurrent("discovery")
    browsing[id.id] = nil
    node.stopBrowsing(id.id)
    drain()
  }

  /// Learns where a service listens; the handler is called once, with `timedOut` where nobody
  /// answers in time.
  @discardableResult
  public func resolve(
    _ service: DiscoveredService, within limit: Duration,
    _ handle: @escaping (Result<ResolvedService, DiscoveryError>) -> Void
  ) -> ResolvingID {
    resolve(service.fullName, within: limit, handle)
  }

  @discardableResult
  func resolve(
    _ name: Name, within limit: Duration,
    _ handle: @escaping (Result<ResolvedService, DiscoveryError>) -> Void
  ) -> ResolvingID {
    loop.preconditionCurrent("discovery")
    refreshUnicast()
    let now = loop.now
    let id = node.resolve(name, deadline: now.advanced(by: limit), at: now)
    resolving[id] = handle
    drain()
    return ResolvingID(id: id)
  }

  /// Gives up: the handler is not called.
  public func cancelResolving(_ id: ResolvingID) {
    loop.preconditionCurrent("discovery")
    resolving[id.id] = nil
    node.cancelResolve(id.id)
    drain()
  }

  /// Says that a service does not answer: it is asked for again, and goes in ten seconds
  /// unless it is heard of.
  public func reconfirm(_ service: DiscoveredService) { reconfirm(service.fullName) }

  func reconfirm(_ name: Name) {
    loop.preconditionCurrent("discovery")
    node.reconfirm(name, at: loop.now)
    drain()
  }
}
