import CaromCore

/// What the responder keeps for one link.
struct LinkState: Sendable {
  /// An answer that waits for its moment.
  struct Pending: Sendable {
    var identity: Record.Identity
    var due: Instant
    /// Who asks; known answers that follow from all of them make the answer needless.
    var askers: [Endpoint]
    /// Whether it answers a question, or only rides along.
    var isShared: Bool
  }

  /// More askers than that and the answer is sent whatever they know.
  static let askerLimit = 8
  /// Answers that wait at a time, so that questions cannot use up memory.
  static let pendingLimit = 4096

  var link: Link
  var pending: [Pending] = []
  /// When each record was last multicast; names only what is owned.
  var lastSent: [Record.Identity: Instant] = [:]
  /// What is owned here, and where each name's records are in it; rebuilt when it changes.
  var records: [OwnedRecord] = []
  var byName: [Name: [Int]] = [:]

  init(_ link: Link) { self.link = link }

  func records(of name: Name) -> [OwnedRecord] { (byName[name] ?? []).map { records[$0] } }

  func owned(_ identity: Record.Identity) -> OwnedRecord? {
    byName[identity.name]?.lazy.map { records[$0] }.first { $0.record.data == identity.data }
  }

  mutating func set(_ owned: [OwnedRecord]) {
    records = owned
    byName = [:]
    for (index, owned) in records.enumerated() {
      byName[owned.record.name, default: []].append(index)
    }
    if lastSent.count > 2 * records.count + 64 {
      lastSent = lastSent.filter { self.owned($0.key) != nil }
    }
  }
}
