import CaromCore

extension Querier {
  /// Time has passed: asks what is due, drops what is too old.
  package mutating func handleTimeout(at now: Instant) {
    for event in cacheEvents(at: now) {
      switch event {
      case .refresh(let place): refresh(place, at: now)
      case .expired(let place, let record): lost(record, at: place, wasEvicted: false, at: now)
      }
    }
    endDoubts(at: now)
    ask(at: now)
    while let id = resolverTimers.popFirst(until: now) { touch(id) }
    evaluateTouched(at: now)
  }

  private mutating func cacheEvents(at now: Instant) -> [RecordCache.Event] {
    let wanted = inquiries
    var events: [RecordCache.Event] = []
    while let event = cache.handleTimeout(at: now, isWanted: wanted.wants) {
      events.append(event)
    }
    return events
  }

  /// A record grows old: it is asked for on the link that it came by; a denial by what it
  /// denies.
  private mutating func refresh(_ place: RecordCache.Place, at now: Instant) {
    let name = place.key.name
    let types =
      place.key.type == .nsec
      ? inquiries.types(of: name).filter {
        $0 == .nsec || isDenied(RecordKey(name, $0), on: place.interface)
      } : [place.key.type, .any]
    for type in types {
      inquiries.modify(RecordKey(name, type)) { inquiry in
        inquiry.modify(place.interface) { $0.refresh(at: now) }
      }
    }
  }

  private mutating func ask(at now: Instant) {
    guard let next = inquiries.nextTimeout, max(next, busyUntil) <= now else { return }
    busyUntil = max(busyUntil, now.advanced(by: Self.packetInterval * -Self.packetBurst))
    let packets = 1 + Int((now - busyUntil) / Self.packetInterval)
    let unicast = Set(links.filter(\.receivesUnicast).map(\.index))
    var due = inquiries.takeDue(
      at: now, limit: packets * Self.packetQuestions, hearsUnicast: unicast.contains)[...]
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
    // A train of known answers is not torn, though it may take more than there was.
    busyUntil = busyUntil.advanced(by: Self.packetInterval * sent)
  }

  /// The shared answers that need not be repeated: more than half of their life is left
  /// (RFC 6762 §7.1).
  func knownAnswers(_ key: RecordKey, on interface: UInt32, at now: Instant) -> [Record] {
    entries(key, on: interface).compactMap { entry in
      let left = now.duration(to: entry.expires)
      guard !entry.record.flushesCache, !entry.isLeaving,
        left > .seconds(Int64(min(entry.record.timeToLive, TimeToLive.ceiling))) / 2
      else { return nil }
      var record = entry.record
      record.timeToLive = UInt32(clamping: left.components.seconds)
      return record
    }
  }

  /// Queries within the limit. As many questions as fit one packet go together; their known
  /// answers that do not fit follow in further packets, and all but the last say so
  /// (RFC 6762 §7.2).
  static func queries(
    _ questions: [Question], limit: Int, knownAnswers: (RecordKey) -> [Record]
  ) -> [[UInt8]] {
    var messages: [[UInt8]] = []
    var rest = questions[...]
    while !rest.isEmpty {
      var writer = makeWriter(limit)
      let asked = rest.prefix { writer.append($0) }
      // A question takes at most 260 bytes: one at least fits.
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
