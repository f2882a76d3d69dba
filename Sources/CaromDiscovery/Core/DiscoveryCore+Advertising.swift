import CaromCore
import CaromDNS

extension DiscoveryCore {
  /// Identifies an advertised service.
  public struct AdvertisingID: Hashable, Sendable {
    let id: PublicationID
  }

  /// Starts advertising a service and returns the advertisement's id. `handle` receives its events.
  @discardableResult
  public func advertise(
    _ service: AdvertisedService, _ handle: @escaping (AdvertisingEvent) -> Void
  ) throws(DiscoveryError) -> AdvertisingID {
    try prepareRequest()
    try service.validate()
    defer { drain() }
    do throws(PublicationError) {
      let id = try node.publish(service.registration, at: loop.now)
      advertising[id] = handle
      return AdvertisingID(id: id)
    } catch {
      throw DiscoveryError(error)
    }
  }

  /// Replaces an advertised service's TXT record. Queries are answered with the new record from now
  /// on. The change is announced immediately, but not sooner than a second after the previous
  /// announcement; beyond ten changes a minute, it is announced after 1.5 s without a further
  /// change (RFC 6762 §8.4).
  public func update(_ id: AdvertisingID, txt: TXTRecord) throws(DiscoveryError) {
    try modify { node throws(PublicationError) in try node.update(id.id, text: txt, at: loop.now) }
  }

  /// Replaces the subtypes under which an advertised service is found.
  public func update(_ id: AdvertisingID, subtypes: [String]) throws(DiscoveryError) {
    try modify { node throws(PublicationError) in
      try node.update(id.id, subtypes: subtypes, at: loop.now)
    }
  }

  /// Claims a different name for an advertised service. The handler receives `renamed` once the
  /// name is established.
  public func rename(_ id: AdvertisingID, to name: String) throws(DiscoveryError) {
    try modify { node throws(PublicationError) in try node.rename(id.id, to: name, at: loop.now) }
  }

  private func modify(
    _ body: (inout MulticastDNS) throws(PublicationError) -> Void
  ) throws(DiscoveryError) {
    try prepareRequest()
    defer { drain() }
    do throws(PublicationError) { try body(&node) } catch { throw DiscoveryError(error) }
  }

  /// Stops advertising a service. Its goodbye records are sent after 20 ms, together with those of
  /// other services that end during this delay; `close` sends them immediately.
  public func withdraw(_ id: AdvertisingID) {
    loop.preconditionCurrent("discovery")
    advertising[id.id] = nil
    node.withdraw(id.id, at: loop.now)
    drain()
  }

  /// Sends all pending goodbye records now.
  func sendGoodbyes() {
    node.sendGoodbyes()
    drain()
  }

  /// Calls `handle` once all goodbye records have been sent, possibly before this method returns.
  func whenGoodbyesAreSent(_ handle: @escaping () -> Void) {
    goodbyeHandlers.append(handle)
    drain()
  }
}
