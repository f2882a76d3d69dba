import CaromCore
import CaromDNS

/// A domain in which services are registered, the zone that contains it, and the zone's servers.
struct RegistrationZone: Sendable {
  var domain: Name
  var zone: Name
  var servers: [Endpoint]
}

/// Finds the zone of a domain and the server that updates it.
struct ZoneLocator {
  /// The time limit of each query.
  static let timeLimit = Duration.seconds(5)

  let client: UnicastClient
  let configuration: UnicastConfiguration

  /// Returns the domain to register in with its zone and the zone's servers.
  func locate(_ domain: RegistrationDomain) async throws(DiscoveryError) -> RegistrationZone {
    let servers = domain.server.map { [$0] } ?? configuration.servers
    guard !servers.isEmpty else { throw .noNameServer }
    let name = try await self.name(of: domain, servers)
    guard !name.isLinkLocal else { throw .nameInvalid }
    let zone = try await zone(of: name, servers)
    guard domain.server == nil else {
      return RegistrationZone(domain: name, zone: zone, servers: servers)
    }
    return RegistrationZone(
      domain: name, zone: zone, servers: await updateServers(of: zone, servers) ?? servers)
  }

  private func name(
    of domain: RegistrationDomain, _ servers: [Endpoint]
  ) async throws(DiscoveryError) -> Name {
    if let text = domain.name {
      guard let name = try? Name(text: text), name != .root else { throw .nameInvalid }
      return name
    }
    for kind in [BrowseTarget.DomainKind.defaultRegistration, .registration] {
      for search in configuration.domains {
        guard let list = try? BrowseTarget.domains(kind, in: search).name(),
          let record = try await records(list, .ptr, servers).first,
          case .pointer(let name) = record.data
        else { continue }
        return name
      }
    }
    throw .noRegistrationDomain
  }

  /// Returns the closest domain that contains `name` and has an SOA record.
  private func zone(
    of name: Name, _ servers: [Endpoint]
  ) async throws(DiscoveryError) -> Name {
    var zone = name
    while zone != .root {
      if try await !records(zone, .soa, servers).isEmpty { return zone }
      zone = zone.parent
    }
    throw .notPrimaryServer
  }

  /// Returns the endpoints of the servers that the zone announces for updates, or nil if it
  /// announces none.
  private func updateServers(of zone: Name, _ servers: [Endpoint]) async -> [Endpoint]? {
    guard
      let service = try? Name(labels: ["_dns-update", "_udp"].map { Array($0.utf8) } + zone.labels)
    else { return nil }
    let resolution = try? await client.resolve(service, of: servers, within: Self.timeLimit)
    return resolution?.endpoints
  }

  /// Returns the records of `type` under `name`; none if the name does not exist.
  private func records(
    _ name: Name, _ type: RecordType, _ servers: [Endpoint]
  ) async throws(DiscoveryError) -> [Record] {
    do throws(UnicastError) {
      return try await client.ask(name, type, of: servers, within: Self.timeLimit).records
    } catch {
      if error == .nameError { return [] }
      throw DiscoveryError(update: error)
    }
  }
}
