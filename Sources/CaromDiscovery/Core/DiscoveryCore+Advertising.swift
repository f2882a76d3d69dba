import CaromCore
import CaromDNS

extension DiscoveryCore {
  /// Which advertised service.
  public struct AdvertisingID: Hashable, Sendable {
    let id: PublicationID
  }

  /// Makes a service visible; the handler hears how that goes.
  @discardableResult
  public func advertise(
    _ service: AdvertisedService, _ handle: @escaping (AdvertisingEvent) -> Void
  ) throws(DiscoveryError) -> AdvertisingID {
    try begin()
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

  /// Changes the strings beside an advertised service. What changes more than ten times a
  /// minute is told to others later, and then as it is by then (RFC 6762 §8.4).
  public func update(_ id: AdvertisingID, txt: TXTRecord) throws(DiscoveryError) {
    try revise { node throws(PublicationError) in try node.update(id.id, text: txt, at: loop.now) }
  }

  /// Changes the narrower types that a service is found under.
  public func update(_ id: AdvertisingID, subtypes: [String]) throws(DiscoveryError) {
    try revise { node throws(PublicationError) in
      try node.update(id.id, subtypes: subtypes, at: loop.now)
    }
  }

  /// Takes another name: the handler hears `renamed` once it is won.
  public func rename(_ id: AdvertisingID, to name: String) throws(DiscoveryError) {
    try revise { node throws(PublicationError) in try node.rename(id.id, to: name, at: loop.now) }
  }

  private func revise(
    _ body: (inout MulticastDNS) throws(PublicationError) -> Void
  ) throws(DiscoveryError) {
    loop.preconditionCurrent("discovery")
    defer { drain() }
    do throws(PublicationError) { try body(&node) } catch { throw DiscoveryError(error) }
  }

  /// Takes a service back: its goodbye has left when this returns.
  public func withdraw(_ id: AdvertisingID) {
    loop.preconditionCurrent("discovery")
    advertising[id.id] = nil
    node.withdraw(id.id, at: loop.now)
    drain()
  }
}
