import CaromCore

extension Querier {
  private enum Change {
    case heard(Record, isNew: Bool)
    case evicted(RecordCache.Place, Record)
  }

  /// Takes in what a response says, whoever asked for it and whatever its id.
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
      response.answers + response.additionals, from: datagram.source.address, on: interface,
      at: now)
    for case .heard(let record, _) in changes where record.timeToLive > 0 {
      settle(record, on: interface)
    }
    for change in changes {
      switch change {
      case .heard(let record, let isNew):
        if record.timeToLive > 0 { heard(record, isNew: isNew, on: interface, at: now) }
      case .evicted(let place, let record): lost(record, at: place, wasEvicted: true, at: now)
      }
    }
    evaluateTouched(at: now)
  }

  /// Unicast answers count only for a short time after a question that asked for them, and
  /// only where they answer it.
  private func isExpected(_ response: Message, on interface: UInt32, at now: Instant) -> Bool {
    response.answers.contains { record in
      [record.type, .any].contains { type in
        inquiries[RecordKey(record.name, type)]?.expectsUnicast(on: interface, at: now) ?? false
      }
    }
  }

  /// Puts records into the cache; a denial in another form than RFC 6762 §6.1 has is skipped.
  private mutating func store(
    _ records: [Record], from source: IPAddress, on interface: UInt32, at now: Instant
  ) -> [Change] {
    let wanted = inquiries
    var changes: [Change] = []
    for record in records where record.recordClass == Record.internet {
      if case .types(let next, let types) = record.data {
        guard next == record.name, !types.contains(.nsec) else { continue }
      }
      let insertion = cache.insert(
        record, from: source, on: interface, at: now,
        jitter: UInt8.random(in: 0...10, using: &generator), isWanted: wanted.wants)
      for (place, record) in cache.takeEvicted() { changes.append(.evicted(place, record)) }
      if insertion != .refused { changes.append(.heard(record, isNew: insertion == .new)) }
    }
    return changes
  }

  /// A unique answer is the whole answer, and so is a denial.
  private mutating func settle(_ record: Record, on interface: UInt32) {
    guard case .types = record.data else {
      if record.flushesCache { inquiries.modify(record.key) { $0.answered(on: interface) } }
      return
    }
    for key in denied(by: record, on: interface) {
      inquiries.modify(key) { $0.denied(on: interface) }
    }
  }

  /// The open questions that a denial answers.
  private func denied(by record: Record, on interface: UInt32) -> [RecordKey] {
    inquiries.types(of: record.name).map { RecordKey(record.name, $0) }
      .filter { isDenied($0, on: interface) }
  }

  /// A record is there: tell whom it concerns.
  private mutating func heard(
    _ record: Record, isNew: Bool, on interface: UInt32, at now: Instant
  ) {
    for watcher in inquiries.watchers(of: record.key) {
      switch watcher {
      case .browse(let id): browsed(record, by: id, on: interface, at: now)
      case .resolver(let id): touch(id)
      case .monitor(let id): compareText(id)
      case .query(let id):
        if isNew { emit(.recordAdded(id, record, interface: interface)) }
      case .doubt: break
      }
    }
    guard case .types = record.data else { return }
    for key in denied(by: record, on: interface) {
      for watcher in inquiries[key]?.watchers ?? [] {
        switch watcher {
        case .resolver(let id): touch(id)
        case .query(let id):
          if isNew { emit(.recordDenied(id, interface: interface)) }
        case .browse, .monitor, .doubt: break
        }
      }
    }
  }

  /// A record is gone: tell whom it concerns, and ask again where it is wanted. What lost its
  /// place to others is not asked for at once, or it would push out others in turn.
  mutating func lost(
    _ record: Record, at place: RecordCache.Place, wasEvicted: Bool, at now: Instant
  ) {
    let interface = place.interface
    for watcher in inquiries.watchers(of: place.key) {
      switch watcher {
      case .browse(let id): vanished(record, from: id, on: interface)
      case .resolver(let id): touch(id)
      case .monitor(let id): compareText(id)
      case .query(let id): emit(.recordRemoved(id, record, interface: interface))
      case .doubt: break
      }
    }
    if case .types(_, let types) = record.data {
      for type in inquiries.types(of: record.name) where !types.contains(type) {
        restartQuestion(RecordKey(record.name, type), on: interface, wasEvicted, at: now)
      }
    } else if record.flushesCache {
      restartQuestion(place.key, on: interface, wasEvicted, at: now)
    }
  }

  private mutating func restartQuestion(
    _ key: RecordKey, on interface: UInt32, _ wasEvicted: Bool, at now: Instant
  ) {
    guard inquiries[key] != nil, !isAnswered(key), !isDenied(key, on: interface) else { return }
    let start = wasEvicted ? now : makeStart(at: now)
    inquiries.modify(key) { inquiry in
      inquiry.modify(interface) { series in
        if wasEvicted {
          series.resume(at: now)
        } else {
          series.restart(at: start, pause: Self.expiryPause)
        }
      }
    }
  }
}

// MARK: - Queries of others

extension Querier {
  /// Listens to what others ask: what was asked need not be asked again (RFC 6762 §7.3), and
  /// what stays unanswered is gone (§10.5). Their known answers are not taken as answers (§7.1).
  package mutating func handleQuery(_ query: Message, from datagram: Datagram, at now: Instant) {
    let interface = datagram.interface
    guard links.contains(where: { $0.index == interface }), !query.isTruncated,
      datagram.source.port == MulticastGroup.port, datagram.destination.address.isMulticast
    else { return }
    let isForeign = !links.contains { $0.hasAddress(datagram.source.address) }
    let known = Dictionary(grouping: query.answers, by: \.key)
      .mapValues { Set($0.map(\.identity)) }
    var seen: Set<RecordKey> = []
    for question in query.questions
    where !question.wantsUnicast && question.questionClass == Record.internet
      && seen.insert(question.key).inserted
    {
      let theirs = known[question.key] ?? []
      overhear(question.key, theirs, on: interface, at: now)
      guard isForeign else { continue }
      let place = RecordCache.Place(interface: interface, key: question.key)
      cache.overhear(place, known: theirs, at: now)
    }
  }

  /// Counts a question as asked by us where its known answers are among ours.
  private mutating func overhear(
    _ key: RecordKey, _ theirs: Set<Record.Identity>, on interface: UInt32, at now: Instant
  ) {
    guard inquiries[key] != nil else { return }
    if !theirs.isEmpty {
      let ours = Set(knownAnswers(key, on: interface, at: now).map(\.identity))
      guard theirs.isSubset(of: ours) else { return }
    }
    inquiries.modify(key) { inquiry in inquiry.modify(interface) { $0.overheard(at: now) } }
  }
}
