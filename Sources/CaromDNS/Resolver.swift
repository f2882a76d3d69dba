import CaromCore

/// Learns where one service listens: SRV and TXT under its name, then the addresses of the
/// host that SRV names. An inner machine: it reads the querier's cache.
struct Resolver: Sendable {
  /// How long a service without TXT is waited for, once all else is known.
  static let textPatience = Duration.milliseconds(1500)

  let id: ResolveID
  let instance: Name
  let deadline: Instant
  /// What it asks for now.
  private(set) var keys: [RecordKey]
  /// When it settles for what it has.
  private(set) var settlesAt: Instant?

  init(id: ResolveID, instance: Name, deadline: Instant) {
    self.id = id
    self.instance = instance
    self.deadline = deadline
    keys = [RecordKey(instance, .srv), RecordKey(instance, .txt)]
  }

  var nextTimeout: Instant { min(deadline, settlesAt ?? deadline) }

  /// What is known by now; `nil` where that is not enough. `keys` may have grown.
  mutating func evaluate(_ cache: RecordCache, on links: [Link], at now: Instant) -> Resolution? {
    var best: Resolution?
    var hasText = false
    for link in links {
      guard let found = evaluate(cache, on: link.index), !found.endpoints.isEmpty else { continue }
      let text = Self.newest(cache, link.index, RecordKey(instance, .txt))
      guard best == nil || (!hasText && text != nil) else { continue }
      best = found
      hasText = text != nil
    }
    guard let best else {
      settlesAt = nil
      return nil
    }
    if hasText { return best }
    let limit = settlesAt ?? now.advanced(by: Self.textPatience)
    settlesAt = limit
    return now >= min(limit, deadline) ? best : nil
  }

  private mutating func evaluate(_ cache: RecordCache, on interface: UInt32) -> Resolution? {
    var resolution: Resolution?
    for service in services(cache, on: interface) {
      for type in [RecordType.a, .aaaa] where !keys.contains(RecordKey(service.target, type)) {
        keys.append(RecordKey(service.target, type))
      }
      let endpoints = addresses(of: service.target, cache, on: interface).map {
        Endpoint($0, port: service.port)
      }
      guard !endpoints.isEmpty else { continue }
      if resolution == nil {
        resolution = Resolution(
          host: service.target, endpoints: [], text: [:], interface: interface)
      }
      resolution?.endpoints += endpoints
    }
    if let text = Self.newest(cache, interface, RecordKey(instance, .txt)),
      case .text(let bytes) = text
    {
      resolution?.text = TXTRecord(decoding: bytes)
    }
    return resolution
  }

  /// Most recent first among equals; the lowest priority first (RFC 2782). A target "." says
  /// that the service is not offered.
  private func services(_ cache: RecordCache, on interface: UInt32) -> [(
    target: Name, port: UInt16
  )] {
    let place = RecordCache.Place(interface: interface, key: RecordKey(instance, .srv))
    var found: [(priority: UInt16, weight: UInt16, target: Name, port: UInt16)] = []
    for entry in cache.current(at: place).reversed() {
      if case .service(let priority, let weight, let port, let target) = entry.record.data,
        target != .root
      {
        found.append((priority, weight, target, port))
      }
    }
    let sorted = found.enumerated().sorted { a, b in
      (a.element.priority, b.element.weight, a.offset)
        < (b.element.priority, a.element.weight, b.offset)
    }
    return sorted.map { ($0.element.target, $0.element.port) }
  }

  /// Global before link-local, and there IPv4 before IPv6.
  private func addresses(of host: Name, _ cache: RecordCache, on interface: UInt32) -> [IPAddress] {
    var found: [IPAddress] = []
    for type in [RecordType.aaaa, .a] {
      let place = RecordCache.Place(interface: interface, key: RecordKey(host, type))
      for case .address(let address) in cache.current(at: place).map(\.record.data) {
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

  /// The data that was heard last.
  static func newest(_ cache: RecordCache, _ interface: UInt32, _ key: RecordKey) -> RecordData? {
    cache.current(at: RecordCache.Place(interface: interface, key: key)).last?.record.data
  }
}
