import CaromCore

extension LinkState {
  /// The record of that identity: owned, or an NSEC made for an owned name.
  func answer(_ identity: Record.Identity) -> OwnedRecord? {
    if let owned = owned(identity) { return owned }
    guard case .types = identity.data else { return nil }
    return absence(of: identity.name).flatMap { $0.record.identity == identity ? $0 : nil }
  }

  /// What answers a question: records, or where the name is ours and lacks the type, an NSEC
  /// that says so (RFC 6762 §6.1).
  func answers(to question: Question) -> [OwnedRecord] {
    let all = records(of: question.key.name)
    let matching = all.filter { question.isAnswered(by: $0.record) }
    guard matching.isEmpty, all.contains(where: \.isUnique),
      [Record.internet, Question.anyClass].contains(question.questionClass)
    else { return matching }
    return absence(of: question.key.name).map { [$0] } ?? []
  }

  /// The NSEC that lists which types an owned name has.
  func absence(of name: Name) -> OwnedRecord? {
    let unique = records(of: name).filter(\.isUnique)
    guard let first = unique.first else { return nil }
    let types = Set(unique.map(\.record.type)).sorted()
    return OwnedRecord(
      record: Record(
        first.record.name, .types(next: first.record.name, types), timeToLive: TimeToLive.host,
        flushesCache: true),
      isUnique: true, owner: first.owner)
  }

  /// What saves the asker a further question (RFC 6763 §12, RFC 6762 §6.2), without what is
  /// among the answers already.
  func additionals(to answers: [Record]) -> [Record] {
    var seen = Set(answers.map(\.identity))
    var added: [Record] = []
    var queue = answers[...]
    while let record = queue.popFirst() {
      for more in follow(record) where seen.insert(more.identity).inserted {
        added.append(more)
        queue.append(more)
      }
    }
    return added
  }

  private func follow(_ record: Record) -> [Record] {
    switch record.data {
    case .pointer(let name): return records(of: name).filter(\.isUnique).map(\.record)
    case .service(_, _, _, let target): return hostRecords(target)
    case .address: return hostRecords(record.name)
    case .text, .types, .raw: return []
    }
  }

  /// A host's addresses, and an NSEC where it has none of one family (RFC 6762 §6.2).
  private func hostRecords(_ name: Name) -> [Record] {
    let addresses = records(of: name).map(\.record)
    guard Set(addresses.map(\.type)).count == 1, let absence = absence(of: name) else {
      return addresses
    }
    return addresses + [absence.record]
  }
}
