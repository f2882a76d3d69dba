import CaromCore

extension Querier {
  private enum Change {
    case stored(Record, isNew: Bool)
    case withdrawn(Record)
    case evicted(RecordCache.SetKey, Record)
  }

  /// Stores the records of a response. Every response is used, whatever its ID, even if
  /// another host asked the question.
  package mutating func handleResponse(
    _ response: Message, from datagram: Datagram, at now: Instant
  ) {
    let interface = datagram.interface
    guard let link = links.first(where: { $0.index == interface }) else { return }
    if !datagram.destination.address.isMulticast {
      guard link.isOnLink(datagram.source.address), isExpected(response, on: interface, at: now)
      else { return }
    }
    let changes = store(
      response.answers + response.additionals, from: datagram.source.address, on: link, at: now)
    for case .stored(let record, _) in changes where record.timeToLive > 0 {
      suspendQuestions(answeredBy: record, on: interface)
    }
    for change in changes {
      switch change {
      case .stored(let record, let isNew):
        if record.timeToLive > 0 { handleStored(record, isNew: isNew, on: interface, at: now) }
      case .withdrawn(let record): confirmGoodbye(of: record, on: interface, at: now)
      case .evicted(let setKey, let record):
        handleLost(record, at: setKey, wasEvicted: true, at: now)
      }
    }
    evaluatePending(at: now)
  }

  /// Returns whether a unicast response answers or denies a question that recently asked for one.
  /// Other unicast responses are ignored.
  private func isExpected(_ response: Message, on interface: UInt32, at now: Instant) -> Bool {
    response.answers.contains { record in
      let denied = activeQuestions.types(of: record.name).filter(record.data.denies)
      return ([record.type, .any] + denied).contains { type in
        activeQuestions[RecordKey(record.name, type)]?.expectsUnicast(on: interface, at: now)
          ?? false
      }
    }
  }

  /// Stores records in the cache and returns the changes. NSEC records that do not have the form of
  /// RFC 6762 §6.1 are skipped.
  private mutating func store(
    _ records: [Record], from source: IPAddress, on link: Link, at now: Instant
  ) -> [Change] {
    let questions = activeQuestions
    let isOnLink = link.isOnLink(source)
    var changes: [Change] = []
    for record in records where record.recordClass == Record.internet {
      if case .types(let next, let types) = record.data {
        guard next == record.name, !types.contains(.nsec) else { continue }
      }
      let insertion = cache.insert(
        record, from: source, isOnLink: isOnLink, on: link.index, at: now,
        jitter: UInt8.random(in: 0...10, using: &generator), isWanted: questions.isWanted)
      for (setKey, record) in cache.popEvicted() { changes.append(.evicted(setKey, record)) }
      switch insertion {
      case .new, .known: changes.append(.stored(record, isNew: insertion == .new))
      case .withdrawn: changes.append(.withdrawn(record))
      case .refused: break
      }
    }
    return changes
  }

  /// Asks once whether a record is really gone, because anybody on the link can send a goodbye in
  /// the name of its owner. If the owner answers within the record's last second (RFC 6762 §10.1),
  /// the record remains. A PTR answer also renews the other records of a browsed service (RFC 6763
  /// §12.1), so those are not asked for.
  private mutating func confirmGoodbye(
    of record: Record, on interface: UInt32, at now: Instant
  ) {
    let isWanted = activeQuestions.observers(of: record.key).contains { observer in
      if case .browse = observer { record.type == .ptr } else { true }
    }
    guard isWanted else { return }
    let start = makeStart(at: now)
    for type in [record.type, .any] {
      let key = RecordKey(record.name, type)
      activeQuestions.modify(key) { $0.modify(interface) { $0.refresh(at: start) } }
      // Within a second of the last query, the owner could not answer again (§6), so the question
      // and the expiry wait until it can.
      guard let next = activeQuestions[key]?.schedules.first(where: { $0.link == interface })?.next
      else { continue }
      cache.postponeExpiry(of: record, on: interface, to: next + Self.answerTimeout)
    }
  }

  /// Suspends the active questions to which `record` is a complete answer: a unique record, or an
  /// NSEC record that denies the type.
  private mutating func suspendQuestions(answeredBy record: Record, on interface: UInt32) {
    guard case .types = record.data else {
      if record.flushesCache { activeQuestions.modify(record.key) { $0.answered(on: interface) } }
      return
    }
    for key in denied(by: record, on: interface) {
      activeQuestions.modify(key) { $0.denied(on: interface) }
    }
  }

  /// Returns the keys of the active questions that an NSEC record answers in the negative.
  private func denied(by record: Record, on interface: UInt32) -> [RecordKey] {
    activeQuestions.types(of: record.name).map { RecordKey(record.name, $0) }
      .filter { isDenied($0, on: interface) }
  }

  /// Reports a record that was stored in the cache to its observers. `isNew` is false if the cache
  /// already had the record.
  private mutating func handleStored(
    _ record: Record, isNew: Bool, on interface: UInt32, at now: Instant
  ) {
    for observer in activeQuestions.observers(of: record.key) {
      switch observer {
      case .browse(let id): addToBrowse(record, by: id, on: interface, at: now)
      case .resolver(let id): setNeedsEvaluation(id)
      case .monitor(let id): compareText(id)
      case .query(let id):
        if isNew { emit(.recordAdded(id, record, interface: interface)) }
      case .reconfirmation: break
      }
    }
    guard case .types = record.data else { return }
    for key in denied(by: record, on: interface) {
      for observer in activeQuestions[key]?.observers ?? [] {
        switch observer {
        case .resolver(let id): setNeedsEvaluation(id)
        case .query(let id):
          if isNew { emit(.recordDenied(id, interface: interface)) }
        case .browse, .monitor, .reconfirmation: break
        }
      }
    }
  }

  /// Reports a lost record to its observers and asks for it again if it is wanted. An evicted
  /// record is not asked for immediately, because it would in turn evict others.
  mutating func handleLost(
    _ record: Record, at setKey: RecordCache.SetKey, wasEvicted: Bool, at now: Instant
  ) {
    let interface = setKey.interface
    for observer in activeQuestions.observers(of: setKey.key) {
      switch observer {
      case .browse(let id): removeFromBrowse(record, from: id, on: interface)
      case .resolver(let id): setNeedsEvaluation(id)
      case .monitor(let id): compareText(id)
      case .query(let id): emit(.recordRemoved(id, record, interface: interface))
      case .reconfirmation: break
      }
    }
    if case .types = record.data {
      for type in activeQuestions.types(of: record.name) where record.data.denies(type) {
        restartQuestion(RecordKey(record.name, type), on: interface, wasEvicted, at: now)
      }
    } else if record.flushesCache {
      restartQuestion(setKey.key, on: interface, wasEvicted, at: now)
    }
  }

  private mutating func restartQuestion(
    _ key: RecordKey, on interface: UInt32, _ wasEvicted: Bool, at now: Instant
  ) {
    guard activeQuestions[key] != nil, !isAnswered(key), !isDenied(key, on: interface) else {
      return
    }
    let start = wasEvicted ? now : makeStart(at: now)
    activeQuestions.modify(key) { question in
      question.modify(interface) { schedule in
        if wasEvicted {
          schedule.resume(at: now)
        } else {
          schedule.restart(at: start, pause: Self.expiryPause)
        }
      }
    }
  }
}

// MARK: - Queries of other hosts

extension Querier {
  /// Observes another host's query. Its questions need not be asked by this host as well (RFC 6762
  /// §7.3), and records that no responder sends in answer are presumed gone (§10.5). Its known
  /// answers are not cached (§7.1).
  package mutating func handleQuery(_ query: Message, from datagram: Datagram, at now: Instant) {
    let interface = datagram.interface
    guard let link = links.first(where: { $0.index == interface }), !query.isTruncated,
      datagram.source.port == MulticastGroup.port, datagram.destination.address.isMulticast
    else { return }
    let source = datagram.source.address
    let isForeign = link.isOnLink(source) && !links.contains { $0.hasAddress(source) }
    let known = Dictionary(grouping: query.answers, by: \.key)
      .mapValues { Set($0.map(\.identity)) }
    var seen: Set<RecordKey> = []
    for question in query.questions
    where !question.wantsUnicast && question.questionClass == Record.internet
      && seen.insert(question.key).inserted
    {
      let theirs = known[question.key] ?? []
      suppressDuplicate(question.key, theirs, on: interface, at: now)
      guard isForeign else { continue }
      let setKey = RecordCache.SetKey(interface: interface, key: question.key)
      cache.observeQuery(for: setKey, known: theirs, at: now)
    }
  }

  /// Acts as if this host had just asked the question that another host asked, provided that this
  /// host would list at least the same known answers (RFC 6762 §7.3).
  private mutating func suppressDuplicate(
    _ key: RecordKey, _ theirs: Set<Record.Identity>, on interface: UInt32, at now: Instant
  ) {
    guard activeQuestions[key] != nil else { return }
    if !theirs.isEmpty {
      let ours = Set(knownAnswers(key, on: interface, at: now).map(\.identity))
      guard theirs.isSubset(of: ours) else { return }
    }
    activeQuestions.modify(key) { question in
      question.modify(interface) { $0.suppressDuplicate(at: now) }
    }
  }
}
