import CaromDNS
import CaromTransport

extension DiscoveryActor {
  /// Advertises a service: on the link if `domain` is nil, otherwise in the domain.
  func publish(
    _ service: AdvertisedService, in domain: RegistrationDomain?,
    _ handle: @escaping @Sendable (DiscoveryCore.AdvertisingEvent) -> Void
  ) async throws(DiscoveryError) -> Publication {
    guard let domain else { return .link(self, try advertise(service, handle)) }
    let zone = try await locate(domain)
    let advertiser = try DomainAdvertiser(
      service, in: zone, of: domain, on: interfaces, by: unicastClient, handle)
    await advertiser.start()
    return .domain(advertiser)
  }

  /// Returns the zone of a domain and the server that updates it.
  func locate(_ domain: RegistrationDomain) async throws(DiscoveryError) -> RegistrationZone {
    let locator = ZoneLocator(client: unicastClient, configuration: nameServers())
    return try await locator.locate(domain)
  }

  /// Removes the services in a domain whose leases have ended.
  func reap(_ domain: RegistrationDomain) async throws(DiscoveryError) -> ReapResult {
    let zone = try await locate(domain)
    var reaping = Reaping(zone, by: unicastClient, key: domain.key.key)
    return try await reaping.run()
  }
}
