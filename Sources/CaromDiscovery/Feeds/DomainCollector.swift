import CaromDNS
import Synchronization

/// Domains that the link and several servers may recommend: each is told once.
final class DomainCollector: Sendable {
  private struct State {
    /// Who recommends a domain: servers by the domain that they were asked in, the link as "local".
    var sources: [Name: Set<Name>] = [:]
    /// The interfaces of the link's recommendations.
    var interfaces: [Name: [UInt32]] = [:]
  }

  private let state = Mutex(State())
  private let handle: @Sendable (DiscoveryChange<DiscoveredDomain>) -> Void

  init(_ handle: @escaping @Sendable (DiscoveryChange<DiscoveredDomain>) -> Void) {
    self.handle = handle
  }

  /// What servers say within `source`.
  func apply(_ changes: [UnicastWatch.Change], from source: Name) {
    for change in changes {
      switch change {
      case .added(let record):
        if case .pointer(let domain) = record.data { add(domain, from: source, on: []) }
      case .removed(let record):
        if case .pointer(let domain) = record.data { remove(domain, from: source) }
      }
    }
  }

  /// What the link says.
  func apply(_ change: DiscoveryChange<DiscoveredDomain>) {
    guard let domain = try? Name(text: change.item.name) else { return }
    if case .removed = change {
      remove(domain, from: "local")
    } else {
      add(domain, from: "local", on: change.item.interfaces)
    }
  }

  private func add(_ domain: Name, from source: Name, on interfaces: [UInt32]) {
    let isNew = state.withLock { state in
      defer { state.sources[domain, default: []].insert(source) }
      if !interfaces.isEmpty { state.interfaces[domain] = interfaces }
      return state.sources[domain] == nil
    }
    let found = DiscoveredDomain(FoundName(domain, on: interfaces))
    if isNew {
      handle(.added(found))
    } else if !interfaces.isEmpty {
      handle(.updated(found))
    }
  }

  private func remove(_ domain: Name, from source: Name) {
    let isGone = state.withLock { state in
      guard state.sources[domain]?.remove(source) != nil else { return false }
      guard state.sources[domain]?.isEmpty == true else { return false }
      state.sources[domain] = nil
      state.interfaces[domain] = nil
      return true
    }
    if isGone { handle(.removed(DiscoveredDomain(FoundName(domain, on: [])))) }
  }
}
