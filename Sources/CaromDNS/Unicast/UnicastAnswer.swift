/// What a name server says to a question, and nothing that it was not asked.
package struct UnicastAnswer: Hashable, Sendable {
  /// The name that the records stand under: the asked one, or where its aliases lead.
  package var name: Name
  /// What was asked for; empty where the name has no such records.
  package var records: [Record]
  /// What the records lead to, within the domain that was asked: what else it says is no
  /// business of that server's.
  package var additionals: [Record]

  /// What was said under `name`.
  package init(name: Name, records: [Record], additionals: [Record] = []) {
    self.name = name
    self.records = records
    self.additionals = additionals
  }
}

extension UnicastAnswer {
  /// Aliases that are followed from one name to the next.
  package static let aliasLimit = 8

  /// Takes out of a message what answers `key`; `nil` where its aliases run in a circle, or are
  /// too many.
  init?(to key: RecordKey, from message: Message) {
    let answers = message.answers.filter(\.isPlainInternet)
    guard let name = Self.end(of: key, in: answers) else { return nil }
    let question = Question(name, key.type)
    self.name = name
    records = answers.filter { question.isAnswered(by: $0) }
    additionals = Self.referred(
      by: records, among: message.additionals.filter(\.isPlainInternet), within: key.name.bailiwick)
  }

  /// Where the aliases of a name lead.
  private static func end(of key: RecordKey, in answers: [Record]) -> Name? {
    guard key.type != .cname, key.type != .any else { return key.name }
    var name = key.name
    var visited: Set<Name> = [name]
    while let target = answers.lazy.compactMap({ $0.alias(of: name) }).first {
      guard visited.insert(target).inserted, visited.count <= aliasLimit + 1 else { return nil }
      name = target
    }
    return name
  }

  /// The records that others lead to, each once, in the order in which they came.
  private static func referred(
    by records: [Record], among additionals: [Record], within domain: Name
  ) -> [Record] {
    var wanted = Set(records.compactMap(\.target))
    for record in additionals where wanted.contains(record.name) {
      if let target = record.target { wanted.insert(target) }
    }
    var seen: Set<Record.Identity> = []
    return additionals.filter { record in
      wanted.contains(record.name) && record.name.isWithin(domain)
        && seen.insert(record.identity).inserted
    }
  }
}

extension Record {
  /// Whether it is of class IN; the bit that multicast takes for a flag is none here.
  fileprivate var isPlainInternet: Bool { recordClass == Record.internet && !flushesCache }

  /// The name that its data names.
  fileprivate var target: Name? {
    switch data {
    case .pointer(let name), .service(_, _, _, let name): name
    default: nil
    }
  }

  /// What `name` is an alias of, where this record says so.
  fileprivate func alias(of name: Name) -> Name? {
    guard self.name == name, case .raw(.cname, let bytes) = data else { return nil }
    return Name(wire: Array(bytes.dropLast()))
  }
}

extension Name {
  /// Whether it is `domain` or a name below it.
  func isWithin(_ domain: Name) -> Bool {
    var rest = self
    while rest.wire.count > domain.wire.count { rest = rest.parent }
    return rest == domain
  }

  /// What a server that was asked for this name may speak of: of a service's name its domain, of
  /// any other the name and what is below.
  fileprivate var bailiwick: Name {
    let transports: Set<String> = ["_tcp", "_udp"]
    var rest = self
    while !rest.wire.isEmpty {
      if transports.contains(rest.firstLabel.lowercased()) { return rest.parent }
      rest = rest.parent
    }
    return self
  }
}
