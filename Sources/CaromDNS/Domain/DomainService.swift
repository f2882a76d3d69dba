import CaromCore

/// The names of a service in a domain, and the updates that change its records.
package struct DomainService: Hashable, Sendable {
  /// The time to live of the records, in seconds. Browsers query again when it has ended.
  static let timeToLive: UInt32 = 60

  /// The domain in which the service is registered.
  package let domain: Name
  /// The service type within the domain, such as `_game._udp.example.com`.
  package let type: Name
  /// The full name of the service.
  package let instance: Name
  /// The name under which the service's lease stands.
  package let leaseName: Name

  /// Creates the names of the service that is called `name`, which `init` encodes in Unicode
  /// normalization form C. Throws an error if a name is too long.
  package init(_ name: String, _ type: ServiceType, in domain: Name) throws(NameError) {
    try self.init(type.name(in: domain).prefixed(by: name), in: domain)
  }

  /// Creates the names of a service that was found under its full name in `domain`.
  package init(_ instance: Name, in domain: Name) throws(NameError) {
    self.domain = domain
    type = instance.parent
    self.instance = instance
    leaseName = try Lease.name(of: instance)
  }

  /// The records that change while a service is registered.
  package struct Content: Hashable, Sendable {
    /// The TXT record.
    package var text: TXTRecord
    /// The subtypes under which the service is listed.
    package var subtypes: [[UInt8]]
    /// The addresses of the service's host.
    package var addresses: [IPAddress]
  }

  /// Returns the update that registers the service in `zone` if its name is not in use (RFC 2136
  /// §2.4.5).
  func claim(in zone: Name, _ offer: RecordData, _ content: Content, _ lease: Lease)
    -> DynamicUpdate
  {
    var update = DynamicUpdate(zone: zone)
    update.requireUnused(instance)
    update.add(instance, offer, timeToLive: Self.timeToLive)
    if let types = try? BrowseTarget.types(domain: domain).name() {
      update.add(types, .pointer(type), timeToLive: Self.timeToLive)
    }
    update.add(type, .pointer(instance), timeToLive: Self.timeToLive)
    add(content, lease, to: &update)
    return update
  }

  /// Returns the update that succeeds only if the service in `zone` is the one with the SRV data
  /// `offer`. It changes nothing.
  func check(in zone: Name, _ offer: RecordData) -> DynamicUpdate {
    var update = DynamicUpdate(zone: zone)
    update.requireOnly(instance, offer)
    return update
  }

  /// Returns the update that replaces the content `old` and the lease, if the service is still the
  /// one with the SRV data `offer`.
  func change(
    in zone: Name, _ offer: RecordData, from old: Content, to content: Content, _ lease: Lease
  ) -> DynamicUpdate {
    var update = check(in: zone, offer)
    for name in subtypeNames(old.subtypes.filter { !content.subtypes.contains($0) }) {
      update.delete(name, .pointer(instance))
    }
    update.deleteAll(of: RecordKey(instance, .txt))
    update.deleteAll(of: RecordKey(leaseName, .txt))
    if let host = hostName(lease.host) { update.deleteAll(under: host) }
    add(content, lease, to: &update)
    return update
  }

  /// Returns the update that removes the service, if it is still the one with the SRV data `offer`.
  func removal(in zone: Name, _ offer: RecordData, _ lease: Lease) -> DynamicUpdate {
    var update = check(in: zone, offer)
    remove(lease, from: &update)
    return update
  }

  /// Returns the update that removes the service whose lease has the TXT data `leaseData`, unless
  /// the lease has been renewed. Returns nil if the data is not a lease.
  package func expiry(in zone: Name, _ leaseData: [UInt8]) -> DynamicUpdate? {
    guard let lease = Lease(decoding: leaseData) else { return nil }
    var update = DynamicUpdate(zone: zone)
    update.requireOnly(leaseName, .text(leaseData))
    remove(lease, from: &update)
    return update
  }

  /// Returns the update that removes the type from the list of types, if no service of the type is
  /// left.
  package func typeRemoval(in zone: Name) -> DynamicUpdate {
    var update = DynamicUpdate(zone: zone)
    update.requireNone(of: RecordKey(type, .ptr))
    if let types = try? BrowseTarget.types(domain: domain).name() {
      update.delete(types, .pointer(type))
    }
    return update
  }

  private func add(_ content: Content, _ lease: Lease, to update: inout DynamicUpdate) {
    for name in subtypeNames(content.subtypes) {
      update.add(name, .pointer(instance), timeToLive: Self.timeToLive)
    }
    update.add(instance, .text(content.text.encoded), timeToLive: Self.timeToLive)
    if let host = hostName(lease.host) {
      for address in content.addresses {
        update.add(host, .address(address), timeToLive: Self.timeToLive)
      }
    }
    update.add(leaseName, .text(lease.encoded), timeToLive: Self.timeToLive)
  }

  private func remove(_ lease: Lease, from update: inout DynamicUpdate) {
    for name in subtypeNames(lease.subtypes) { update.delete(name, .pointer(instance)) }
    update.delete(type, .pointer(instance))
    update.deleteAll(under: instance)
    update.deleteAll(under: leaseName)
    guard let host = hostName(lease.host) else { return }
    update.deleteAll(of: RecordKey(host, .a))
    update.deleteAll(of: RecordKey(host, .aaaa))
  }

  /// Returns the name of a host with the given label, or nil if it is too long.
  func hostName(_ label: [UInt8]) -> Name? { try? Name(labels: [label] + domain.labels) }

  private func subtypeNames(_ subtypes: [[UInt8]]) -> [Name] {
    subtypes.compactMap { try? Name(labels: [$0, Array("_sub".utf8)] + type.labels) }
  }
}
