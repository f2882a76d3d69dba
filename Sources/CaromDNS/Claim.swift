import CaromCore

/// A name of ours, and how far it is on each link: the host's name, or one service's.
struct Claim: Sendable {
  /// What the name is for.
  enum Purpose: Sendable {
    case host
    case service(Registration)
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

  /// Conflicts within this time count together, and so many slow probing down to one try in
  /// five seconds (RFC 6762 §8.1).
  static let conflictWindow = Duration.seconds(10)
  static let conflictLimit = 15
  static let conflictPause = Duration.seconds(5)
  /// After that long without a free name the user is told (RFC 6762 §9).
  static let patience = Duration.seconds(60)

  let id: PublicationID
  var purpose: Purpose
  /// The leftmost label of its name, as renamed.
  private(set) var label: String
  /// The claimed name.
  private(set) var name: Name
  /// The name that was last reported.
  var reported: String?
  /// By link, in the order of the links.
  var progress: [(link: UInt32, state: Progress)] = []
  private var conflicts: [Instant] = []
  /// Whether there were too many of them since the name was last won.
  private var isSlowed = false
  private var firstConflict: Instant?

  init(id: PublicationID, purpose: Purpose, label: String) {
    self.id = id
    self.purpose = purpose
    self.label = label
    name = Self.name(label, for: purpose)
  }

  private static func name(_ label: String, for purpose: Purpose) -> Name {
    let parent: Name =
      if case .service(let service) = purpose { service.type.name() } else { "local" }
    guard let name = try? parent.prefixed(by: label) else {
      preconditionFailure("labels are validated before they are published")
    }
    return name
  }

  /// Whether the name is ours on every link, and there is one.
  var isOwnedEverywhere: Bool { !progress.isEmpty && progress.allSatisfy { $0.state.isOwned } }

  func state(on link: UInt32) -> Progress? { progress.first { $0.link == link }?.state }

  func isOwned(on link: UInt32) -> Bool { state(on: link)?.isOwned ?? false }

  mutating func set(_ state: Progress, on link: UInt32) {
    if let index = progress.firstIndex(where: { $0.link == link }) {
      progress[index].state = state
    } else {
      progress.append((link, state))
      progress.sort { $0.link < $1.link }
    }
  }

  /// Counts a conflict: when the next probe may be sent, or `nil` once patience has run out.
  mutating func recordConflict(at now: Instant) -> Instant? {
    let first = firstConflict ?? now
    firstConflict = first
    guard now - first <= Self.patience else { return nil }
    conflicts = conflicts.filter { now - $0 < Self.conflictWindow }.suffix(Self.conflictLimit)
    conflicts.append(now)
    isSlowed = isSlowed || conflicts.count >= Self.conflictLimit
    return isSlowed ? now.advanced(by: Self.conflictPause) : now
  }

  /// The name was won: the minute begins anew with the next conflict.
  mutating func settleConflicts() {
    firstConflict = nil
    isSlowed = false
  }

  /// Takes the next name (RFC 6762 §9).
  mutating func rename() {
    switch purpose {
    case .host: label = InstanceName.hostSuccessor(of: label)
    case .service: label = InstanceName.successor(of: label)
    }
    name = Self.name(label, for: purpose)
  }
}
