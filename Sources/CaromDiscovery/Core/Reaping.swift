import CaromCore
import CaromDNS

/// One pass over a domain that removes the services whose leases have ended.
///
/// Leases and the present time are both read by the clock of the zone's server, so that no other
/// clock matters. A removal requires the lease that was read, so that a service that is renewed in
/// the meantime stays.
struct Reaping {
  /// The maximum number of service types that are examined.
  static let typeLimit = 1024

  private let zone: RegistrationZone
  private let client: UnicastClient
  private let key: TransactionKey
  private var result = ReapResult()

  init(_ zone: RegistrationZone, by client: UnicastClient, key: TransactionKey) {
    self.zone = zone
    self.client = client
    self.key = key
  }

  /// Examines all services of the domain.
  mutating func run() async throws(DiscoveryError) -> ReapResult {
    let time = try await serverTime()
    let types = try await pointers(under: .types(domain: zone.domain))
    for type in types.prefix(Self.typeLimit) where type.isWithin(zone.domain) {
      let before = result.removed.count
      try await examine(try await pointers(under: .named(type)), at: time)
      if result.removed.count > before { await removeType(type) }
    }
    return result
  }

  /// Returns the server's time from its answer to an update that changes nothing.
  private func serverTime() async throws(DiscoveryError) -> UInt64 {
    do throws(UnicastError) {
      return try await send(DynamicUpdate(zone: zone.zone))
    } catch {
      throw DiscoveryError(update: error)
    }
  }

  private func send(_ update: DynamicUpdate) async throws(UnicastError) -> UInt64 {
    try await client.update(
      update, signedWith: key, at: zone.servers, within: DomainAdvertiser.timeLimit)
  }

  /// Examines services, some at a time.
  private mutating func examine(
    _ instances: [Name], at time: UInt64
  ) async throws(DiscoveryError) {
    var rest = instances.filter { $0.isWithin(zone.domain) }[...]
    while !rest.isEmpty {
      let part = rest.prefix(UnicastClient.parallelQuestions)
      rest = rest.dropFirst(part.count)
      let leases = try await leaseData(of: Array(part))
      for instance in part {
        guard let data = leases[instance], let lease = Lease(decoding: data) else {
          result.unleased += 1
          continue
        }
        if lease.hasExpired(at: time) {
          try await remove(instance, data)
        } else {
          result.leased += 1
        }
      }
    }
  }

  /// Returns the data of the leases that the services have. Throws if one of them cannot be read.
  private func leaseData(of instances: [Name]) async throws(DiscoveryError) -> [Name: [UInt8]] {
    let results = await withTaskGroup(of: (Name, Result<[UInt8]?, UnicastError>).self) { group in
      for instance in instances {
        group.addTask { [client, zone] in
          (instance, await Self.leaseData(of: instance, by: client, zone))
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    var leases: [Name: [UInt8]] = [:]
    for (instance, result) in results {
      do throws(UnicastError) {
        leases[instance] = try result.get()
      } catch {
        throw DiscoveryError(update: error)
      }
    }
    return leases
  }

  /// Returns the data of a service's lease, or nil if the service has none.
  private static func leaseData(
    of instance: Name, by client: UnicastClient, _ zone: RegistrationZone
  ) async -> Result<[UInt8]?, UnicastError> {
    guard let name = try? Lease.name(of: instance) else { return .success(nil) }
    do throws(UnicastError) {
      let records = try await client.ask(name, .txt, of: zone.servers).records
      guard records.count == 1, case .text(let data) = records[0].data else { return .success(nil) }
      return .success(data)
    } catch {
      return error == .nameError ? .success(nil) : .failure(error)
    }
  }

  private mutating func remove(_ instance: Name, _ lease: [UInt8]) async throws(DiscoveryError) {
    guard let service = try? DomainService(instance, in: zone.domain),
      let update = service.expiry(in: zone.zone, lease)
    else { return }
    do throws(UnicastError) {
      _ = try await send(update)
      result.removed.append(
        .init(name: instance.firstLabel, fullName: instance.description))
    } catch {
      guard error == .prerequisiteFailed else { throw DiscoveryError(update: error) }
      result.leased += 1
    }
  }

  /// Removes the type from the list of types if no service is left. A failure does no harm: the
  /// next pass that removes a service of the type tries again.
  private func removeType(_ type: Name) async {
    guard let any = try? type.prefixed(by: "any"),
      let service = try? DomainService(any, in: zone.domain)
    else { return }
    _ = try? await send(service.typeRemoval(in: zone.zone))
  }

  private func pointers(under target: BrowseTarget) async throws(DiscoveryError) -> [Name] {
    guard let name = try? target.name() else { throw .nameInvalid }
    do throws(UnicastError) {
      let answer = try await client.ask(name, .ptr, of: zone.servers)
      return answer.records.compactMap { record in
        if case .pointer(let target) = record.data { target } else { nil }
      }
    } catch {
      if error == .nameError { return [] }
      throw DiscoveryError(update: error)
    }
  }
}
