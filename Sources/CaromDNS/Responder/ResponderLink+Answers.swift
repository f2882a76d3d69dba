import CaromCore

extension ResponderLink {
  /// The answers to a question, as record sets that are each sent whole.
  struct Matches: Sendable {
    /// The slots of each set: one record if the set is shared, or all records of the name and type
    /// if it is unique.
    var sets: [[Int]] = []
    /// Whether other hosts may have answers too.
    var isShared = false
  }

  /// Returns the records that answer a question, or the name's NSEC record if this responder owns
  /// the name but has no records of the type (RFC 6762 §6.1).
  func answers(to question: Question) -> Matches {
    var matches = Matches()
    var denial: Int?
    for slot in owned.slots(of: question.key.name) {
      guard let entry = owned[slot] else { continue }
      let isWanted = question.isAnswered(by: entry.record)
      switch entry.owned.role {
      case .shared where isWanted:
        matches.sets.append([slot])
        matches.isShared = true
      case .unique where isWanted:
        let type = entry.record.type
        let index = matches.sets.firstIndex { owned[$0[0]]?.record.type == type }
        if let index { matches.sets[index].append(slot) } else { matches.sets.append([slot]) }
      case .denial: denial = slot
      case .shared, .unique: break
      }
    }
    if matches.sets.isEmpty, let denial,
      [Record.internet, Question.anyClass].contains(question.questionClass)
    {
      matches.sets.append([denial])
    }
    return matches
  }

  /// Returns whether the query lists all records of a set as known answers with at least half of
  /// their time to live left (RFC 6762 §7.1).
  func isKnown(_ set: [Int], _ known: [Record.Identity: UInt32]) -> Bool {
    guard !known.isEmpty else { return false }
    return set.allSatisfy { slot in
      guard let record = owned[slot]?.record, let life = known[record.identity] else {
        return false
      }
      return life >= record.timeToLive / 2
    }
  }

  /// Returns whether all records of a set were multicast less than a quarter of their time to live
  /// ago (RFC 6762 §5.4).
  func isFresh(_ set: [Int], at now: Instant) -> Bool {
    set.allSatisfy { slot in
      guard let entry = owned[slot], let sent = entry.lastSent else { return false }
      return now - sent < .seconds(Int64(entry.record.timeToLive)) / 4
    }
  }

  /// Returns the responses that carry the records in `slots` and their additional records, except
  /// the additional records for which `skips` returns true.
  func responses(
    _ slots: [Int], skipping skips: (OwnedRecords.Entry) -> Bool
  ) -> [Response] {
    Response.pack(slots.compactMap { owned[$0]?.record }, limit: link.payloadLimit) {
      additionals(to: $0, skipping: skips)
    }
  }

  /// Returns the additional records of a response, which save the querier further queries (RFC 6763
  /// §12, RFC 6762 §6.2). Records that are already in `answers` are omitted.
  func additionals(
    to answers: [Record], skipping skips: (OwnedRecords.Entry) -> Bool = { _ in false }
  ) -> [Record] {
    var seen = Set(answers.lazy.compactMap { owned.slot(of: $0.identity) })
    var added: [Record] = []
    var queue = answers
    var next = 0
    while next < queue.count {
      for slot in relatedSlots(queue[next]) where seen.insert(slot).inserted {
        guard let entry = owned[slot] else { continue }
        queue.append(entry.record)
        let isSkipped = set(of: slot).allSatisfy { owned[$0].map(skips) ?? true }
        if !isSkipped { added.append(entry.record) }
      }
      next += 1
    }
    return added
  }

  /// Returns the slots of the records that must be sent together with the record in `slot`: all
  /// records of its name and type if they are unique, so that the cache-flush bit removes none of
  /// them (RFC 6762 §10.2).
  func set(of slot: Int) -> [Int] {
    guard let entry = owned[slot], entry.owned.role == .unique else { return [slot] }
    return owned.slots(of: entry.record.name).filter { owned[$0]?.record.type == entry.record.type }
  }

  private func relatedSlots(_ record: Record) -> [Int] {
    switch record.data {
    case .pointer(let name): owned.slots(of: name).filter { owned[$0]?.owned.role == .unique }
    case .service(_, _, _, let target): hostSlots(target)
    case .address: hostSlots(record.name)
    case .text, .types, .raw: []
    }
  }

  /// Returns the slots of a host's addresses, and of its NSEC record if it has addresses of only
  /// one family (RFC 6762 §6.2).
  private func hostSlots(_ name: Name) -> [Int] {
    let slots = owned.slots(of: name)
    let addresses = slots.filter { owned[$0]?.owned.role == .unique }
    let families = Set(addresses.compactMap { owned[$0]?.record.type })
    return families.count == 1 ? slots : addresses
  }
}
