import CaromCore

extension Querier {
  /// Performs everything that is due: expires and refreshes records, sends queries, and evaluates
  /// resolvers.
  package mutating func handleTimeout(at now: Instant) {
    for event in cacheEvents(at: now) {
      switch event {
      case .refresh(let setKey): refresh(setKey, at: now)
      case .expired(let setKey, let record):
        handleLost(record, at: setKey, wasEvicted: false, at: now)
      }
    }
    endReconfirmations(at: now)
    ask(at: now)
    while let id = resolverTimers.popFirst(until: now) { setNeedsEvaluation(id) }
    evaluatePending(at: now)
  }

  private mutating func cacheEvents(at now: Instant) -> [RecordCache.Event] {
    let questions = activeQuestions
    var events: [RecordCache.Event] = []
    while let event = cache.handleTimeout(at: now, isWanted: questions.isWanted) {
      events.append(event)
    }
    return events
  }

  /// Schedules a query for aging records on the interface on which they were received. For an NSEC
  /// record, the query asks for the types that the record denies.
  private mutating func refresh(_ setKey: RecordCache.SetKey, at now: Instant) {
    let name = setKey.key.name
    let types =
      setKey.key.type == .nsec
      ? activeQuestions.types(of: name).filter {
        $0 == .nsec || isDenied(RecordKey(name, $0), on: setKey.interface)
      } : [setKey.key.type, .any]
    for type in types {
      activeQuestions.modify(RecordKey(name, type)) { question in
        question.modify(setKey.interface) { $0.refresh(at: now) }
      }
    }
  }

  private mutating func ask(at now: Instant) {
    guard let next = activeQuestions.nextTimeout, max(next, busyUntil) <= now else { return }
    busyUntil = max(busyUntil, now.advanced(by: Self.packetInterval * -Self.packetBurst))
    let packets = 1 + Int((now - busyUntil) / Self.packetInterval)
    let unicast = Set(links.filter(\.receivesUnicast).map(\.index))
    var due = activeQuestions.popDue(
      at: now, limit: packets * Self.packetQuestions, receivesUnicast: unicast.contains)[...]
    var sent = 0
    for link in links where !due.isEmpty {
      let questions = due.prefix { $0.link == link.index }.map(\.question)
      due = due.dropFirst(questions.count)
      let payloads = Self.queries(questions, limit: link.payloadLimit) {
        knownAnswers($0, on: link.index, at: now)
      }
      sent += payloads.count
      for payload in payloads {
        for group in link.groups {
          transmit(Transmit(payload: payload, destination: group, interface: link.index))
        }
      }
    }
    // All known-answer packets of a query are sent together, even if they exceed the rate limit.
    busyUntil = busyUntil.advanced(by: Self.packetInterval * sent)
  }

  /// Returns the known answers of a query: cached shared records with more than half of their time
  /// to live left (RFC 6762 §7.1).
  func knownAnswers(_ key: RecordKey, on interface: UInt32, at now: Instant) -> [Record] {
    entries(key, on: interface).compactMap { entry in
      let left = now.duration(to: entry.expires)
      guard !entry.record.flushesCache, !entry.isExpiring,
        left > .seconds(Int64(min(entry.record.timeToLive, TimeToLive.ceiling))) / 2
      else { return nil }
      var record = entry.record
      record.timeToLive = UInt32(clamping: left.components.seconds)
      return record
    }
  }

  /// Encodes queries of at most `limit` bytes. As many questions as fit share a packet; known
  /// answers that do not fit follow in further packets, and all packets but the last have the TC
  /// bit set (RFC 6762 §7.2).
  static func queries(
    _ questions: [Question], limit: Int, knownAnswers: (RecordKey) -> [Record]
  ) -> [[UInt8]] {
    var messages: [[UInt8]] = []
    var rest = questions[...]
    while !rest.isEmpty {
      var writer = makeWriter(limit)
      let asked = rest.prefix { writer.append($0) }
      // A question takes at most 260 bytes, so at least one fits.
      rest = rest.dropFirst(max(1, asked.count))
      for record in asked.flatMap({ knownAnswers($0.key) })
      where !writer.append(record, to: .answer) {
        var next = makeWriter(limit)
        guard next.append(record, to: .answer) else { continue }
        writer.markTruncated()
        messages.append(writer.bytes)
        writer = next
      }
      messages.append(writer.bytes)
    }
    return messages
  }

  private static func makeWriter(_ limit: Int) -> MessageWriter {
    MessageWriter(id: 0, flags: 0, limit: limit)
  }
}
