import CaromDNS

/// A service that is advertised, on the link or in a domain.
enum Publication: Sendable {
  case link(DiscoveryActor, DiscoveryCore.AdvertisingID)
  case domain(DomainAdvertiser)

  func update(txt: TXTRecord) async throws(DiscoveryError) {
    switch self {
    case .link(let discovery, let id): try await discovery.update(id, txt: txt)
    case .domain(let advertiser): try await advertiser.update(txt: txt)
    }
  }

  func update(subtypes: [String]) async throws(DiscoveryError) {
    switch self {
    case .link(let discovery, let id): try await discovery.update(id, subtypes: subtypes)
    case .domain(let advertiser): try await advertiser.update(subtypes: subtypes)
    }
  }

  func rename(to name: String) async throws(DiscoveryError) {
    switch self {
    case .link(let discovery, let id): try await discovery.rename(id, to: name)
    case .domain(let advertiser): try await advertiser.rename(to: name)
    }
  }

  /// Withdraws the service, and returns once that is done.
  func withdraw() async {
    switch self {
    case .link(let discovery, let id): await discovery.withdraw(id)
    case .domain(let advertiser): await advertiser.withdraw()
    }
  }
}
