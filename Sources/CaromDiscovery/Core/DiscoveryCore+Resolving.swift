import CaromCore
import CaromDNS

extension DiscoveryCore {
  /// Which resolving.
  public struct ResolvingID: Hashable, Sendable {
    let id: ResolveID
  }

  /// Learns where a service listens; the handler is called once, with why where that cannot be
  /// learnt in time.
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

  /// Says that a record seems to be wrong: it is asked for again, and goes in ten seconds unless
  /// somebody repeats it.
  public func reconfirm(_ record: DiscoveredRecord) {
    loop.preconditionCurrent("discovery")
    node.reconfirm(record.record, at: loop.now)
    drain()
  }
}
