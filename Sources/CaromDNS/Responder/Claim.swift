import CaromCore

/// A name of ours, and how far it is on each link: the host's name, or one service's.
struct Claim: Sendable {
  /// What the name is for.
  enum Purpose: Sendable {
    /// This host's addresses. `isUnique` says that nobody else can have the name.
    case host(isUnique: Bool)
    /// A service on the host that is claimed under `host`.
    case service(Registration, host: PublicationID)
  }

  /// How far it is on one link.
  enum Progress: Hashable, Sendable {
    case probing(Prober)
    case announcing(Announcer)
    case settled

    /// Whether the name is ours there.
    var isOwned: Bool { if case .probing = self { false } else { true } }

    var nextTimeout: Instant? {
      switch self {
      case .probing(let prober): prober.nextTimeout
      case .announcing(let announcer): announcer.nextTimeout
      case .settled: nil
      }
    }
  }

  let id: PublicationID
  private(set) var purpose: Purpose
  /// The leftmost label of its name, as renamed.
  private(set) var label: String
  /// The claimed name.
  private(set) var name: Name
  /// The records of a service, the same on every link.
  private(set) var records: [OwnedRecord] = []
  /// The name that was last reported.
  var reported: String?
  /// By link, in the order of the links.
  private(set) var progress: [(link: UInt32, state: Progress)] = []
  /// Of a host: how many services name it, by link.
  var dependents: [UInt32: Int] = [:]
  /// What others said about the name.
  var conflicts = ConflictHistory()
  /// How often the records changed lately.
  var updates = UpdateHistory()
  /// The service as it is to be once `updates` allows it.
  var wanted: Registration?

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
      preconditionFailure("labels are validated before they are published")
    }
    return name
  }

  /// Whether nobody else can have the name, so that it need not be asked for.
  var isUnique: Bool {
    switch purpose {
    case .host(let isUnique): isUnique
    case .service(let service, _): service.isUnique
    }
  }

  var service: Registration? {
    if case .service(let service, _) = purpose { service } else { nil }
  }

  /// The host that a service is on.
  var host: PublicationID? { if case .service(_, let host) = purpose { host } else { nil } }

  /// The label after this one (RFC 6762 §9).
  func successor(of label: String) -> String {
    switch purpose {
    case .host: InstanceName.hostSuccessor(of: label)
    case .service: InstanceName.successor(of: label)
    }
  }

  /// Takes another name; `target` is its host's.
  mutating func rename(to label: String, target: Name) {
    self.label = label
    name = Self.name(label, for: purpose)
    rebuild(target: target)
  }

  /// Becomes another service under the same name.
  mutating func change(to service: Registration, target: Name) {
    guard let host else { return }
    purpose = .service(service, host: host)
    rebuild(target: target)
  }
}

// MARK: - Progress

extension Claim {
  /// Whether the name is ours on every link, and there is one.
  var isOwnedEverywhere: Bool { !progress.isEmpty && progress.allSatisfy { $0.state.isOwned } }
  /// Whether it is ours somewhere.
  var isOwnedAnywhere: Bool { progress.contains { $0.state.isOwned } }

  func state(on link: UInt32) -> Progress? { progress.first { $0.link == link }?.state }

  func isOwned(on link: UInt32) -> Bool { state(on: link)?.isOwned ?? false }

  /// How far it is on a link; `nil` where it is not there at all.
  mutating func set(_ state: Progress?, on link: UInt32) {
    let place = progress.firstIndex { $0.link == link }
    switch (place, state) {
    case (let place?, let state?): progress[place].state = state
    case (let place?, nil): progress.remove(at: place)
    case (nil, let state?):
      progress.append((link, state))
      progress.sort { $0.link < $1.link }
    case (nil, nil): break
    }
  }
}

// MARK: - Records

extension Claim {
  /// Under which the types on a link are listed (RFC 6763 §9).
  static let typesName: Name = "_services._dns-sd._udp.local"

  /// All its records on a link, whether it is ours yet or not.
  func records(on link: Link) -> [OwnedRecord] {
    guard case .host = purpose, !link.addresses.isEmpty else { return records }
    let records = link.addresses.map { address in
      OwnedRecord(
        record: Record(
          name, .address(address.address), timeToLive: TimeToLive.host, flushesCache: true),
        role: .unique)
    }
    return records + [absence(Set(records.map(\.record.type)).sorted(), TimeToLive.host)]
  }

  /// Those that nobody else may have, as probes carry them: without cache-flush bit.
  func proposals(on link: Link) -> [Record] {
    records(on: link).filter { $0.role == .unique }.map { owned in
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
      + [absence([.txt, .srv], TimeToLive.other)]
  }

  /// The NSEC that denies all other types, with the life that such a record would have
  /// (RFC 6762 §6.1).
  private func absence(_ types: [RecordType], _ timeToLive: UInt32) -> OwnedRecord {
    OwnedRecord(
      record: Record(
        name, .types(next: name, types), timeToLive: timeToLive, flushesCache: true),
      role: .absence)
  }

  /// Whether it says the same, on any of `links`: the same data is never a conflict
  /// (RFC 6762 §9).
  func says(_ data: RecordData, on links: [Link]) -> Bool {
    switch purpose {
    case .host:
      guard case .address(let address) = data else { return false }
      return links.contains { $0.hasAddress(address) }
    case .service: return records.contains { $0.isUnique && $0.record.data == data }
    }
  }

  /// Whether it has a record of the type under its name on any of `links`.
  func has(_ type: RecordType, on links: [Link]) -> Bool {
    switch purpose {
    case .host:
      links.contains { $0.addresses.contains { ($0.address.isV6 ? .aaaa : .a) == type } }
    case .service: records.contains { $0.role == .unique && $0.record.type == type }
    }
  }
}

/// When a service's records changed: at most ten times a minute (RFC 6762 §8.4).
struct UpdateHistory: Sendable {
  /// Changes within `window`.
  static let limit = 10
  static let window = Duration.seconds(60)

  private var moments: [Instant] = []

  /// When the next change may be told.
  func allowed(at now: Instant) -> Instant {
    guard moments.count == Self.limit, let first = moments.first else { return now }
    return max(now, first.advanced(by: Self.window))
  }

  /// A change is told.
  mutating func record(at now: Instant) { moments = moments.suffix(Self.limit - 1) + [now] }
}
