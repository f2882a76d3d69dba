import CaromDNS
import CaromTransport

/// Merges the domains that the link and several name servers recommend, so that each domain is
/// reported once.
final class DomainCollector: Sendable {
  /// The sources that recommend each domain: the domains in which name servers were queried, and
  /// "local" for the link.
  private let sources = Locked<[Name: Set<Name>]>([:])
  private let handle: @Sendable (DiscoveryChange<DiscoveredDomain>) -> Void

  init(_ handle: @escaping @Sendable (DiscoveryChange<DiscoveredDomain>) -> Void) {
    self.handle = handle
  }

  /// Applies changes that name servers reported for a query in the domain `source`.
  func apply(_ changes: [UnicastMonitor.Change], from source: Name) {
    for change in changes {
      switch change {
      case .added(let record):
        if case .pointer(let domain) = record.data { add(domain, from: source, on: []) }
      case .removed(let record):
        if case .pointer(let domain) = record.data { remove(domain, from: source) }
      }
    }
  }

  /// Applies a change that was found on the link.
  func apply(_ change: DiscoveryChange<DiscoveredDomain>) {
    guard let domain = try? Name(text: change.item.name) else { return }
    if case .removed = change {
      remove(domain, from: "local")
    } else {
      add(domain, from: "local", on: change.item.interfaces)
    }
  }

  private func add(_ domain: Name, from source: Name, on interfaces: [UInt32]) {
    let isNew = sources.withLock { sources in
      defer { sources[domain, default: []].insert(source) }
      return sources[domain] == nil
    }
    let found = DiscoveredDomain(FoundName(domain, on: interfaces))
    if isNew {
      handle(.added(found))
    } else if !interfaces.isEmpty {
      handle(.updated(found))
    }
  }

  private func remove(_ domain: Name, from source: Name) {
    let rest = sources.withLock { sources -> Set<Name>? in
      guard sources[domain]?.remove(source) != nil else { return nil }
      defer { if sources[domain] == [] { sources[domain] = nil } }
      return sources[domain]
    }
    let found = DiscoveredDomain(FoundName(domain, on: []))
    if rest == [] {
      handle(.removed(found))
    } else if rest != nil, source == "local" {
      handle(.updated(found))
    }
  }
}
