import CaromCore

extension Resolution {
  /// Creates a result from the records of name servers: SRV records, the addresses of their hosts,
  /// and a TXT record. Returns nil if the service is not offered (RFC 2782) or no host has an
  /// address.
  package init?(
    services: [Record], addresses: [Name: [IPAddress]], text: TXTRecord,
    using generator: inout SeededGenerator
  ) {
    let endpoints = Self.offers(services, using: &generator).flatMap { offer in
      (addresses[offer.target] ?? []).map { (host: offer.target, Endpoint($0, port: offer.port)) }
    }
    guard let host = endpoints.first?.host, let name = services.first?.name else { return nil }
    self.init(name: name, host: host, endpoints: endpoints.map(\.1), text: text, interface: 0)
  }

  /// Returns the hosts of SRV records in the order in which they should be tried (RFC 2782).
  package static func hosts(
    of services: [Record], using generator: inout SeededGenerator
  ) -> [Name] {
    var known: Set<Name> = []
    return offers(services, using: &generator).map(\.target).filter { known.insert($0).inserted }
  }

  private static func offers(
    _ services: [Record], using generator: inout SeededGenerator
  ) -> [Resolver.Service] {
    let offers = services.compactMap { record -> Resolver.Service? in
      guard case .service(let priority, let weight, let port, let target) = record.data,
        target != .root
      else { return nil }
      return Resolver.Service(priority: priority, weight: weight, port: port, target: target)
    }
    return Resolver.ordered(offers, using: &generator)
  }
}
