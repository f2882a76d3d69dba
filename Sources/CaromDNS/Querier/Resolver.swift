import CaromCore

/// Identifies a resolve operation of a querier.
package struct ResolveID: Hashable, Sendable {
  let number: UInt64
}

/// Resolves one service: its SRV and TXT records, then the addresses of the hosts that the SRV
/// records name. Reads the querier's cache. With a deadline, the operation ends with one result;
/// without, it reports each change until it is cancelled.
struct Resolver: Sendable {
  /// The final result of a resolve operation.
  enum Outcome: Sendable {
    case resolved(Resolution)
    case failed(ResolveFailure)
  }

  /// The data of an SRV record (RFC 2782).
  struct Service: Hashable, Sendable {
    var priority: UInt16
    var weight: UInt16
    var port: UInt16
    var target: Name
  }

  /// How long to wait for a TXT record once everything else is known.
  static let textPatience = Duration.milliseconds(1500)
  /// How long to wait for a host's addresses of the other family once one family is known. A
  /// responder may send A records over IPv4 only and AAAA records over IPv6 only.
  static let familyPatience = Duration.milliseconds(50)
  /// How long a service's name as it was given takes precedence over the composed name.
  static let nameGracePeriod = Duration.milliseconds(100)
  /// The maximum number of a service's hosts whose addresses are queried.
  static let hostLimit = 8

  let instance: Name
  /// The time at which the operation ends, or nil if it monitors the service until it is cancelled.
  var deadline: Instant?
  /// The records that the resolver asks for.
  private(set) var keys: [RecordKey]
  /// The time at which the first known address was found, or nil while no address is known.
  private(set) var addressKnownSince: Instant?
  /// The last resolution that was reported. Nil unless the resolver monitors the service.
  var lastReported: Resolution?
  /// The operation that looks for the service under its name as given, if this one looks for it
  /// under the composed name.
  var original: ResolveID?
  /// The result of the operation under the composed name, which is reported if this operation
  /// fails.
  var composedResult: Resolution?
  /// Whether the resolver is marked for evaluation.
  var needsEvaluation = false

  init(instance: Name, deadline: Instant?) {
    self.instance = instance
    self.deadline = deadline
    keys = [RecordKey(instance, .srv), RecordKey(instance, .txt)]
  }

  /// Evaluates the cached records. Returns the final result, or nil if more records are needed.
  /// Adds to `keys` any further keys that must be queried.
  mutating func evaluate(
    _ cache: RecordCache, on links: [Link], at now: Instant, using generator: inout SeededGenerator
  ) -> Outcome? {
    let offers = links.map { (link: $0.index, services: services(cache, on: $0.index)) }
    let hosts = offers.flatMap(\.services).map(\.target).filter { $0 != .root }
    updateKeys(for: hosts)
    guard isOffered(hosts, offers.flatMap(\.services), cache, links) else {
      return .failed(.notOffered)
    }
    let reachable = offers.filter { offer in
      offer.services.contains { !addresses(of: $0.target, cache, on: offer.link).isEmpty }
    }
    guard !reachable.isEmpty else {
      addressKnownSince = nil
      return failure(hosts, offers.map { ($0.link, $0.services.map(\.target)) }, cache, at: now)
    }
    let text = RecordKey(instance, .txt)
    let hasText = reachable.contains {
      cache.newest(at: RecordCache.SetKey(interface: $0.link, key: text)) != nil
        || cache.isDenied(text, on: $0.link)
    }
    let since = addressKnownSince ?? now
    addressKnownSince = since
    let isOver = deadline.map { now >= $0 } ?? false
    guard hasText || isOver || now >= since.advanced(by: Self.textPatience) else { return nil }
    let hasFamilies = reachable.allSatisfy { offer in
      links.first { $0.index == offer.link }.map { link in
        offer.services.allSatisfy { knowsFamilies(of: $0.target, cache, on: link, among: links) }
      } ?? true
    }
    guard hasFamilies || isOver || now >= since.advanced(by: Self.familyPatience) else {
      return nil
    }
    return .resolved(resolution(reachable, cache, using: &generator))
  }

  /// Returns whether a host is not expected to have further addresses on a link: for each family
  /// that the link uses, an address of the host is known on some link, or the host has denied that
  /// it has one. Also returns true for a host that has no known address on this link.
  private func knowsFamilies(
    of host: Name, _ cache: RecordCache, on link: Link, among links: [Link]
  ) -> Bool {
    guard !addresses(of: host, cache, on: link.index).isEmpty else { return true }
    return [(RecordType.a, link.usesV4), (.aaaa, link.usesV6)].allSatisfy { type, isUsed in
      let key = RecordKey(host, type)
      return !isUsed || cache.isDenied(key, on: link.index)
        || links.contains {
          !cache.current(at: RecordCache.SetKey(interface: $0.index, key: key)).isEmpty
        }
    }
  }

  /// Adds the address records of `hosts` to `keys`, and removes those of hosts that no longer offer
  /// the service.
  private mutating func updateKeys(for hosts: [Name]) {
    keys.removeAll { $0.name != instance && !hosts.contains($0.name) }
    for host in hosts where !keys.contains(RecordKey(host, .a)) {
      guard keys.count < 2 + 2 * Self.hostLimit else { return }
      keys += [RecordKey(host, .a), RecordKey(host, .aaaa)]
    }
  }

  /// Returns whether the service may still be offered: false if the target of its only SRV record
  /// is the root, or if the name's owner denied that it has an SRV record.
  private func isOffered(
    _ hosts: [Name], _ services: [Service], _ cache: RecordCache, _ links: [Link]
  ) -> Bool {
    guard hosts.isEmpty else { return true }
    let key = RecordKey(instance, .srv)
    return services.isEmpty && !links.contains { cache.isDenied(key, on: $0.index) }
  }

  private func failure(
    _ hosts: [Name], _ offers: [(link: UInt32, hosts: [Name])], _ cache: RecordCache,
    at now: Instant
  ) -> Outcome? {
    let isOver = deadline.map { now >= $0 } ?? false
    guard let host = hosts.first else { return isOver ? .failed(.noAnswer) : nil }
    let isHopeless = offers.allSatisfy { offer in
      offer.hosts.allSatisfy { host in
        [RecordType.a, .aaaa].allSatisfy { cache.isDenied(RecordKey(host, $0), on: offer.link) }
      }
    }
    return isHopeless || isOver ? .failed(.noAddress(host: host)) : nil
  }
}

// MARK: - Cached records

extension Resolver {
  /// Returns the result of the resolve operation. The addresses on the link that supplied a TXT
  /// record are followed by the same host's addresses on other links.
  private func resolution(
    _ offers: [(link: UInt32, services: [Service])], _ cache: RecordCache,
    using generator: inout SeededGenerator
  ) -> Resolution {
    let key = RecordKey(instance, .txt)
    let offerWithText = offers.first {
      cache.newest(at: RecordCache.SetKey(interface: $0.link, key: key)) != nil
    }
    let chosen = offerWithText ?? offers[0]
    let ordered = Self.ordered(chosen.services, using: &generator)
    let records = cache.current(
      at: RecordCache.SetKey(interface: chosen.link, key: RecordKey(instance, .srv)))
    var resolution = Resolution(
      name: records.first?.record.name ?? instance, host: chosen.services[0].target, endpoints: [],
      text: [:], interface: chosen.link)
    let links = [chosen.link] + offers.map(\.link).filter { $0 != chosen.link }
    var isFirst = true
    for service in ordered {
      for link in links
      where offers.contains(where: { $0.link == link && $0.services.contains(service) }) {
        let found = addresses(of: service.target, cache, on: link)
          .map { Endpoint($0, port: service.port) }
        if isFirst, !found.isEmpty {
          resolution.host = service.target
          isFirst = false
        }
        resolution.endpoints += found.filter { !resolution.endpoints.contains($0) }
      }
    }
    let setKey = RecordCache.SetKey(interface: chosen.link, key: key)
    if case .text(let bytes) = cache.newest(at: setKey) {
      resolution.text = TXTRecord(decoding: bytes)
    }
    return resolution
  }

  /// Returns the services by ascending priority. Services of equal priority are in random order,
  /// weighted by their `weight` (RFC 2782).
  static func ordered(
    _ services: [Service], using generator: inout SeededGenerator
  ) -> [Service] {
    var ordered: [Service] = []
    for priority in Set(services.map(\.priority)).sorted() {
      var rest = services.filter { $0.priority == priority && $0.weight == 0 }
        .shuffled(using: &generator)
      rest += services.filter { $0.priority == priority && $0.weight > 0 }
      while !rest.isEmpty {
        let sum = rest.reduce(0) { $0 + Int($1.weight) }
        var left = Int.random(in: 0...sum, using: &generator)
        let index = rest.firstIndex { service in
          left -= Int(service.weight)
          return left <= 0
        }
        ordered.append(rest.remove(at: index ?? 0))
      }
    }
    return ordered
  }

  private func services(_ cache: RecordCache, on interface: UInt32) -> [Service] {
    let setKey = RecordCache.SetKey(interface: interface, key: RecordKey(instance, .srv))
    return cache.current(at: setKey).compactMap { entry in
      guard case .service(let priority, let weight, let port, let target) = entry.record.data
      else { return nil }
      return Service(priority: priority, weight: weight, port: port, target: target)
    }
  }

  /// Returns the cached addresses of a host: global before link-local, global IPv6 before IPv4, and
  /// link-local IPv4 before IPv6.
  private func addresses(of host: Name, _ cache: RecordCache, on interface: UInt32) -> [IPAddress] {
    guard host != .root else { return [] }
    var found: [IPAddress] = []
    for type in [RecordType.aaaa, .a] {
      let setKey = RecordCache.SetKey(interface: interface, key: RecordKey(host, type))
      for case .address(let address) in cache.current(at: setKey).map(\.record.data) {
        found.append(address.scoped(to: interface))
      }
    }
    return found.sorted { (rank($0), $0) < (rank($1), $1) }
  }

  private func rank(_ address: IPAddress) -> Int {
    switch (address.isLinkLocal, address.isV6) {
    case (false, true): 0
    case (false, false): 1
    case (true, false): 2
    case (true, true): 3
    }
  }
}
