import CaromCore
import CaromDNS

extension DiscoveryCore {
  /// Identifies a resolve operation.
  public struct ResolvingID: Hashable, Sendable {
    let id: ResolveID
  }

  /// Resolves a service. Calls `handle` once, with the endpoints at which the service can be
  /// reached, or with an error if they are not found within `limit`.
  @discardableResult
  public func resolve(
    _ service: DiscoveredService, within limit: Duration,
    _ handle: @escaping (Result<ResolvedService, DiscoveryError>) -> Void
  ) throws(DiscoveryError) -> ResolvingID {
    try resolve(service.fullName, within: limit, handle)
  }

  @discardableResult
  func resolve(
    _ name: Name, within limit: Duration,
    _ handle: @escaping (Result<ResolvedService, DiscoveryError>) -> Void
  ) throws(DiscoveryError) -> ResolvingID {
    try prepareRequest()
    let now = loop.now
    let id = node.resolve(name, deadline: now.advanced(by: limit), at: now)
    resolving[id] = handle
    drain()
    return ResolvingID(id: id)
  }

  /// Cancels a resolve operation. Its handler is not called.
  public func cancelResolving(_ id: ResolvingID) {
    loop.preconditionCurrent("discovery")
    resolving[id.id] = nil
    node.cancelResolve(id.id)
    drain()
  }

  /// Watches the endpoints of a service. Calls `handle` when they are known, and again whenever
  /// they or the TXT record change, for example when an address of another family arrives late.
  @discardableResult
  public func watchEndpoints(
    of service: DiscoveredService, _ handle: @escaping (ResolvedService) -> Void
  ) throws(DiscoveryError) -> WatchingID {
    try watchEndpoints(of: service.fullName, handle)
  }

  @discardableResult
  func watchEndpoints(
    of name: Name, _ handle: @escaping (ResolvedService) -> Void
  ) throws(DiscoveryError) -> WatchingID {
    try prepareRequest()
    guard let id = node.monitorEndpoints(of: name, at: loop.now) else { throw .tooManyQuestions }
    return watch(.resolving(.init(id: id))) { event in
      if case .resolved(_, let resolution) = event { handle(ResolvedService(resolution)) }
    }
  }

  /// Queries again for a service that could not be reached. The service is removed after ten
  /// seconds unless its record is received again (RFC 6762 §10.4). Does nothing if discovery is
  /// closed.
  public func reconfirm(_ service: DiscoveredService) { reconfirm(service.fullName) }

  func reconfirm(_ name: Name) { queryAgain { $0.reconfirm(name, at: loop.now) } }

  /// Queries again for a record that the caller believes to be out of date. The record is removed
  /// after ten seconds unless it is received again (RFC 6762 §10.4). Does nothing if discovery is
  /// closed.
  public func reconfirm(_ record: DiscoveredRecord) {
    queryAgain { $0.reconfirm(record.record, at: loop.now) }
  }

  private func queryAgain(_ body: (inout MulticastDNS) -> Void) {
    guard (try? prepareRequest()) != nil else { return }
    body(&node)
    drain()
  }
}
