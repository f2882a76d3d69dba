import CaromCore

extension ResponderLink {
  /// What answers a question: sets that are said whole, each in one piece.
  struct Matches: Sendable {
    /// One record each where others may have more of them, else all of a name and type.
    var sets: [[Int]] = []
    /// Whether others may have answers too.
    var isShared = false
  }

  /// The records that answer a question, or where the name is ours and lacks the type, the NSEC
  /// that says so (RFC 6762 §6.1).
  func answers(to question: Question) -> Matches {
    var matches = Matches()
    var absence: Int?
    for slot in owned.slots(of: question.key.name) {
      guard let entry = owned[slot] else { continue }
      let isWanted = question.isAnswered(by: entry.record)
      switch entry.owned.role {
      case .shared where isWanted:
        matches.sets.append([slot])
        matches.isShared = true
      case .unique where isWanted:
        let type = entry.record.type
        let place = matches.sets.firstIndex { owned[$0[0]]?.record.type == type }
        if let place { matches.sets[place].append(slot) } else { matches.sets.append([slot]) }
      case .absence: absence = slot
      case .shared, .unique: break
      }
    }
    if matches.sets.isEmpty, let absence,
      [Record.internet, Question.anyClass].contains(question.questionClass)
    {
      matches.sets.append([absence])
    }
    return matches
  }

  /// Whether the asker knows all of a set for half of its life or more (RFC 6762 §7.1).
  func isKnown(_ set: [Int], _ known: [Record.Identity: UInt32]) -> Bool {
    guard !known.isEmpty else { return false }
    return set.allSatisfy { slot in
      guard let record = owned[slot]?.record, let life = known[record.identity] else {
        return false
      }
      return life >= record.timeToLive / 2
    }
  }

  /// Whether everybody on the link heard the set within a quarter of its life (RFC 6762 §5.4).
  func isFresh(_ set: [Int], at now: Instant) -> Bool {
    set.allSatisfy { slot in
      guard let entry = owned[slot], let sent = entry.lastSent else { return false }
      return now - sent < .seconds(Int64(entry.record.timeToLive)) / 4
    }
  }

  /// Messages that hold the records and what their askers will want next, without what `skips`
  /// says.
  func responses(
    _ slots: [Int], skipping skips: (OwnedRecords.Entry) -> Bool
  ) -> [Response] {
    Response.pack(slots.compactMap { owned[$0]?.record }, limit: link.payloadLimit) {
      additionals(to: $0, skipping: skips)
    }
  }

  /// What saves the asker a further question (RFC 6763 §12, RFC 6762 §6.2), without what is
  /// among the answers already.
  func additionals(
    to answers: [Record], skipping skips: (OwnedRecords.Entry) -> Bool = { _ in false }
  ) -> [Record] {
    var seen = Set(answers.lazy.compactMap { owned.slot(of: $0.identity) })
    var added: [Record] = []
    var queue = answers
    var next = 0
    while next < queue.count {
      for slot in follow(queue[next]) where seen.insert(slot).inserted {
        guard let entry = owned[slot] else { continue }
        queue.append(entry.record)
        let isSkipped = set(of: slot).allSatisfy { owned[$0].map(skips) ?? true }
        if !isSkipped { added.append(entry.record) }
      }
      next += 1
    }
    return added
  }

  /// What is said together with a record: all of its name and type where nobody else has any, so
  /// that its flush bit drops none of them (RFC 6762 §10.2).
  func set(of slot: Int) -> [Int] {
    guard let entry = owned[slot], entry.owned.role == .unique else { return [slot] }
    return owned.slots(of: entry.record.name).filter { owned[$0]?.record.type == entry.record.type }
  }

  private func follow(_ record: Record) -> [Int] {
    switch record.data {
    case .pointer(let name): owned.slots(of: name).filter { owned[$0]?.owned.role == .unique }
    case .service(_, _, _, let target): hostSlots(target)
    case .address: hostSlots(record.name)
    case .text, .types, .raw: []
    }
  }

  /// A host's addresses, and the NSEC where it has none of one family (RFC 6762 §6.2).
  private func hostSlots(_ name: Name) -> [Int] {
    let slots = owned.slots(of: name)
    let addresses = slots.filter { owned[$0]?.owned.role == .unique }
    let families = Set(addresses.compactMap { owned[$0]?.record.type })
    return families.count == 1 ? slots : addresses
  }
}
