import CaromCore

/// A name that the responder claims, and the progress of the claim on each link. The name belongs
/// to the host or to one service.
struct Claim: Sendable {
  /// What the name identifies: this host or a service.
  enum Purpose: Sendable {
    /// This host's addresses. If `isUnique`, the name is known to be unique and needs no probing.
    case host(isUnique: Bool)
    /// A service whose SRV record names the host `host`.
    case service(Registration, host: PublicationID)
  }

  /// The state of the claim on one link (RFC 6762 §8).
  enum Progress: Hashable, Sendable {
    case probing(Prober)
    /// The name is claimed, and some of its records must be announced. The next announcement is due
    /// at `next`.
    case announcing(next: Instant)
    case announced

    /// Whether the name is claimed, so that questions for it are answered.
    var isOwned: Bool { if case .probing = self { false } else { true } }

    var nextTimeout: Instant? {
      switch self {
      case .probing(let prober): prober.nextTimeout
      case .announcing(let next): next
      case .announced: nil
      }
    }
  }

  let id: PublicationID
  private(set) var purpose: Purpose
  /// The leftmost label of the current name.
  private(set) var label: String
  /// The domain name that the claim is for, which begins with `label`.
  private(set) var name: Name
  /// A service's records, which are the same on every link; empty for a host name.
  private(set) var records: [OwnedRecord] = []
  /// The label in the last `published` or `renamed` event, or nil before the first.
  var reportedLabel: String?
  /// The state on each link, sorted by link.
  private(set) var progress: [(link: UInt32, state: Progress)] = []
  /// For a host name: the number of services whose SRV records refer to the name on each link, by
  /// interface index.
  var dependents: [UInt32: Int] = [:]
  /// The recent conflicts over the name.
  var conflicts = ConflictHistory()
  /// The recent changes to the records.
  var updates = UpdateHistory()

  init(id: PublicationID, purpose: Purpose, label: String, target: Name) {
    self.id = id
    self.purpose = purpose
    self.label = label
    name = Self.name(label, for: purpose)
    rebuild(target: target)
  }

  static func name(_ label: String, for purpose: Purpose) -> Name {
    let parent: Name =
      if case .service(let service, _) = purpose { service.type.name() } else { "local" }
    guard let name = try? parent.prefixed(by: label) else {
      preconditionFailure("a published label must have been validated: \(label)")
    }
    return name
  }

  /// Whether the name is known to be unique, so that it is announced without probing.
  var isUnique: Bool {
    switch purpose {
    case .host(let isUnique): isUnique
    case .service(let service, _): service.isUnique
    }
  }

  var service: Registration? {
    if case .service(let service, _) = purpose { service } else { nil }
  }

  /// The host that a service's SRV record names.
  var host: PublicationID? { if case .service(_, let host) = purpose { host } else { nil } }

  /// Returns the label whose number is `step` higher, to try after `label` is taken (RFC 6762 §9).
  func successor(of label: String, by step: Int) -> String {
    switch purpose {
    case .host: InstanceName.hostSuccessor(of: label, by: step)
    case .service: InstanceName.successor(of: label, by: step)
    }
  }

  /// Changes the label. `target` is the name of the service's host.
  mutating func rename(to label: String, target: Name) {
    self.label = label
    name = Self.name(label, for: purpose)
    rebuild(target: target)
  }

  /// Replaces the claim's service, which keeps its name. `target` is the name of the service's
  /// host.
  mutating func change(to service: Registration, target: Name) {
    guard let host else { return }
    purpose = .service(service, host: host)
    rebuild(target: target)
  }
}

// MARK: - Progress

extension Claim {
  /// Whether the name is claimed on every link, and there is at least one link.
  var isOwnedEverywhere: Bool { !progress.isEmpty && progress.allSatisfy { $0.state.isOwned } }
  /// Whether the name is claimed on at least one link.
  var isOwnedAnywhere: Bool { progress.contains { $0.state.isOwned } }

  func state(on link: UInt32) -> Progress? { progress.first { $0.link == link }?.state }

  func isOwned(on link: UInt32) -> Bool { state(on: link)?.isOwned ?? false }

  /// Sets the state on a link, or removes the link if `state` is nil.
  mutating func set(_ state: Progress?, on link: UInt32) {
    let index = progress.firstIndex { $0.link == link }
    switch (index, state) {
    case (let index?, let state?): progress[index].state = state
    case (let index?, nil):
      progress.remove(at: index)
      if progress.isEmpty { conflicts.reset() }
    case (nil, let state?):
      progress.append((link, state))
      progress.sort { $0.link < $1.link }
    case (nil, nil): break
    }
  }
}

// MARK: - Records

extension Claim {
  /// The name under which the service types on a link are listed (RFC 6763 §9).
  static let typesName: Name = "_services._dns-sd._udp.local"

  /// Returns all records of the claim on a link, whether the name is claimed yet or not.
  func records(on link: Link) -> [OwnedRecord] {
    guard case .host = purpose, !link.addresses.isEmpty else { return records }
    let records = link.addresses.map { address in
      OwnedRecord(
        record: Record(
          name, .address(address.address), timeToLive: TimeToLive.host, flushesCache: true),
        role: .unique)
    }
    let types = Set(records.map(\.record.type)).sorted()
    return records + [denial(types, of: name, TimeToLive.host)] + reverseRecords(on: link)
  }

  /// Returns the PTR records that name this host by its addresses. They are known to be unique, and
  /// so are not probed (RFC 6762 §8.1). Host names that are unique by construction have none, since
  /// an address should have one name.
  func reverseRecords(on link: Link) -> [OwnedRecord] {
    guard id == .host else { return [] }
    return link.reverseNames.flatMap { reverse in
      let record = Record(
        reverse, .pointer(name), timeToLive: TimeToLive.host, flushesCache: true)
      return [
        OwnedRecord(record: record, role: .unique), denial([.ptr], of: reverse, TimeToLive.host),
      ]
    }
  }

  /// Returns the unique records as a probe proposes them, without the cache-flush bit.
  func proposals(on link: Link) -> [Record] {
    records(on: link).filter { $0.role == .unique && $0.record.name == name }.map { owned in
      var record = owned.record
      record.flushesCache = false
      return record
    }
  }

  private mutating func rebuild(target: Name) {
    guard case .service(let service, _) = purpose else { return }
    let type = service.type.name()
    var shared = [Record(type, .pointer(name), timeToLive: TimeToLive.other)]
    for subtype in service.subtypes {
      guard let parent = try? type.prefixed(by: "_sub").prefixed(by: subtype) else { continue }
      shared.append(Record(parent, .pointer(name), timeToLive: TimeToLive.other))
    }
    shared.append(Record(Self.typesName, .pointer(type), timeToLive: TimeToLive.other))
    let unique = [
      Record(
        name, .service(priority: 0, weight: 0, port: service.port, target: target),
        timeToLive: TimeToLive.host, flushesCache: true),
      Record(
        name, .text(service.text.encoded), timeToLive: TimeToLive.other, flushesCache: true),
    ]
    records =
      shared.map { OwnedRecord(record: $0, role: .shared) }
      + unique.map { OwnedRecord(record: $0, role: .unique) }
      + [denial([.txt, .srv], of: name, TimeToLive.other)]
  }

  /// Returns the NSEC record of `name` that denies all types except `types`. Its time to live
  /// should be the one that a record of a denied type would have (RFC 6762 §6.1).
  private func denial(
    _ types: [RecordType], of name: Name, _ timeToLive: UInt32
  ) -> OwnedRecord {
    OwnedRecord(
      record: Record(
        name, .types(next: name, types), timeToLive: timeToLive, flushesCache: true),
      role: .denial)
  }

  /// Returns whether the claim has a record with this data on any of `links`. Identical data is
  /// never a conflict (RFC 6762 §9).
  func hasRecord(with data: RecordData, on links: [Link]) -> Bool {
    switch purpose {
    case .host:
      guard case .address(let address) = data else { return false }
      return links.contains { $0.hasAddress(address) }
    case .service: return records.contains { $0.isUnique && $0.record.data == data }
    }
  }

  /// Returns whether the claim has a record of this type on any of `links`.
  func hasRecord(of type: RecordType, on links: [Link]) -> Bool {
    switch purpose {
    case .host:
      links.contains { $0.addresses.contains { ($0.address.isV6 ? .aaaa : .a) == type } }
    case .service: records.contains { $0.role == .unique && $0.record.type == type }
    }
  }
}
