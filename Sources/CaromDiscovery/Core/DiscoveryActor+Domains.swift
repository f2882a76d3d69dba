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

  /// Begins to register a service in a domain, for callers that do not wait. `handle` receives the
  /// service's events, and the error if the domain or its server is not found.
  func register(
    _ service: AdvertisedService, in domain: RegistrationDomain,
    _ handle: @escaping @Sendable (DiscoveryCore.AdvertisingEvent) -> Void
  ) throws(DiscoveryError) -> Handle {
    try service.validate()
    let number = makeNumber()
    registrations[number] = RegistrationRequest()
    let start = Task<Publication?, Never> {
      do throws(DiscoveryError) {
        return try await publish(service, in: domain, handle)
      } catch {
        handle(.failed(error))
        return nil
      }
    }
    registrations[number]?.start = start
    return .registering(number)
  }

  /// Changes a service in a domain once it is registered, and after the changes before this one.
  /// `fail` receives the error if that is not possible.
  func modify(
    _ number: UInt64,
    _ body: @escaping @Sendable (Publication) async throws(DiscoveryError) -> Void,
    orElse fail: @escaping @Sendable (DiscoveryError) -> Void
  ) {
    guard let request = registrations[number] else { return }
    registrations[number]?.lastChange = Task {
      await request.lastChange?.value
      // If the service could not be registered, its request has ended with the error.
      guard let publication = await request.start?.value else { return }
      do throws(DiscoveryError) { try await body(publication) } catch { fail(error) }
    }
  }

  /// Begins to remove a service from its domain. If the service is being registered at this moment,
  /// it is removed afterwards.
  func unregister(_ number: UInt64) {
    guard let request = registrations.removeValue(forKey: number) else { return }
    removals[number] = Task {
      await request.start?.value?.withdraw()
      removals[number] = nil
    }
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

/// A request to register a service in a domain.
struct RegistrationRequest: Sendable {
  /// Returns the service that has been published, or nil if that has failed.
  var start: Task<Publication?, Never>?
  /// The last of the changes that are made one after the other.
  var lastChange: Task<Void, Never>?
}
