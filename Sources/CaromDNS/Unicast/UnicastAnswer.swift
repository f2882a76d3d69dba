/// The part of a name server's response that answers the question.
package struct UnicastAnswer: Hashable, Sendable {
  /// The name that owns the records: the queried name, or the end of its chain of aliases.
  package var name: Name
  /// The records that answer the question. Empty if the name has no such records.
  package var records: [Record]
  /// The additional records that the answers refer to. Records outside the queried domain are left
  /// out, because the server is not an authority for them.
  package var additionals: [Record]

  /// Creates an answer with records of `name`.
  package init(name: Name, records: [Record], additionals: [Record] = []) {
    self.name = name
    self.records = records
    self.additionals = additionals
  }
}

extension UnicastAnswer {
  /// The maximum number of aliases (CNAME records) followed one after another.
  package static let aliasLimit = 8

  /// Creates the answer to `key` that a response contains. Returns nil if the chain of aliases is
  /// circular or too long.
  init?(to key: RecordKey, from message: Message) {
    let answers = message.answers.filter(\.isPlainInternet)
    guard let name = Self.end(of: key, in: answers) else { return nil }
    let question = Question(name, key.type)
    self.name = name
    records = answers.filter { question.isAnswered(by: $0) }
    additionals = Self.referred(
      by: records, among: message.additionals.filter(\.isPlainInternet), within: key.name.bailiwick)
  }

  /// Follows the chain of aliases from the key's name and returns its end, or nil if the chain is
  /// circular or too long.
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

  /// Returns the additional records that the answers refer to, without duplicates, in message
  /// order.
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
  /// Whether the record is of class IN. The bit that multicast DNS uses for cache flushing must be
  /// zero.
  fileprivate var isPlainInternet: Bool { recordClass == Record.internet && !flushesCache }

  /// The target name of a PTR or SRV record.
  fileprivate var target: Name? {
    switch data {
    case .pointer(let name), .service(_, _, _, let name): name
    default: nil
    }
  }

  /// Returns the target of the alias if this is a CNAME record for `name`, or nil otherwise.
  fileprivate func alias(of name: Name) -> Name? {
    guard self.name == name, case .raw(.cname, let bytes) = data else { return nil }
    return Name(wire: Array(bytes.dropLast()))
  }
}

extension Name {
  /// Returns whether the name is `domain` or a name below it.
  package func isWithin(_ domain: Name) -> Bool {
    var rest = self
    while rest.wire.count > domain.wire.count { rest = rest.parent }
    return rest == domain
  }

  /// The domain within which a server that was queried for this name is trusted: the service's
  /// domain if the name is a service's, otherwise the name itself.
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
