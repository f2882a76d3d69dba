import CaromCore

extension Responder {
  /// Shared answers wait that long, so that many hosts do not answer at once (RFC 6762 §6).
  static let sharedDelay: ClosedRange<Duration> = .milliseconds(20) ... .milliseconds(120)
  /// Where more known answers follow in further packets (RFC 6762 §7.2).
  static let truncatedDelay: ClosedRange<Duration> = .milliseconds(400) ... .milliseconds(500)
  /// The same record is not multicast again earlier (RFC 6762 §6).
  static let repeatInterval = Duration.seconds(1)
  /// Nor, when it is defended against a probe.
  static let defenceInterval = Duration.milliseconds(250)

  /// Answers a query that came in by an interface.
  package mutating func handleQuery(_ query: Message, from datagram: Datagram, at now: Instant) {
    guard let index = links.firstIndex(where: { $0.link.index == datagram.interface }) else {
      return
    }
    let link = links[index].link
    let isUnicast = !datagram.destination.address.isMulticast
    guard !isUnicast || link.isOnLink(datagram.source.address) else { return }
    compareProbes(query, on: index, at: now)
    if datagram.source.port != Group.port {
      answerLegacy(query, to: datagram.source, on: index)
    } else if query.questions.isEmpty {
      forget(query.answers, for: datagram.source, on: index)
    } else {
      let source = datagram.source.address
      let mayUnicast = link.isOnLink(source) && !link.isOwn(source)
      answer(
        query, to: datagram.source, on: index, mayUnicast: mayUnicast, prefersUnicast: isUnicast,
        at: now)
    }
    flush(on: index, at: now)
  }

  /// Collects the answers to every question, without those that the asker knows.
  private mutating func answer(
    _ query: Message, to source: Endpoint, on index: Int, mayUnicast: Bool, prefersUnicast: Bool,
    at now: Instant
  ) {
    let known = knownAnswers(query.answers)
    let probed = Set(query.authorities.map(\.name))
    var direct: [Record] = []
    var multicast: [(owned: OwnedRecord, isDefence: Bool)] = []
    var seen: Set<Record.Identity> = []
    var isShared = query.isTruncated
    for question in query.questions {
      let isDefence = probed.contains(question.key.name)
      for owned in links[index].answers(to: question) {
        let record = owned.record
        if let life = known[record.identity], life >= record.timeToLive / 2 { continue }
        guard seen.insert(record.identity).inserted else { continue }
        let wantsUnicast = mayUnicast && (question.wantsUnicast || prefersUnicast)
        if wantsUnicast, isFresh(record, on: index, at: now) {
          direct.append(record)
        } else {
          multicast.append((owned, isDefence))
          isShared = isShared || (!owned.isUnique && !isDefence)
        }
      }
    }
    let state = links[index]
    let packed = Response.pack(direct) { answers in
      state.additionals(to: answers).filter { known[$0.identity] == nil }
    }
    for response in packed { transmit(response.payload, to: source, on: state.link) }
    guard !multicast.isEmpty else { return }
    let due = isShared ? answerTime(truncated: query.isTruncated, on: index, at: now) : now
    for (owned, isDefence) in multicast {
      postpone(owned, until: due, isDefence: isDefence, for: source, on: index)
    }
  }

  private func knownAnswers(_ records: [Record]) -> [Record.Identity: UInt32] {
    Dictionary(records.map { ($0.identity, $0.timeToLive) }, uniquingKeysWith: max)
  }

  /// Whether everybody on the link heard the record within a quarter of its life (RFC 6762 §5.4).
  private func isFresh(_ record: Record, on index: Int, at now: Instant) -> Bool {
    guard let sent = links[index].lastSent[record.identity] else { return false }
    return now - sent < .seconds(Int64(record.timeToLive)) / 4
  }

  /// When shared answers go; together with those that wait already, if that is soon enough.
  private mutating func answerTime(truncated: Bool, on index: Int, at now: Instant) -> Instant {
    let range = truncated ? Self.truncatedDelay : Self.sharedDelay
    let waiting = links[index].pending.lazy.filter(\.isShared).map(\.due).first { due in
      range.contains(now.duration(to: due))
    }
    return waiting ?? now.advanced(by: generator.duration(in: range))
  }

  private mutating func postpone(
    _ owned: OwnedRecord, until time: Instant, isDefence: Bool, for source: Endpoint, on index: Int
  ) {
    let identity = owned.record.identity
    var due = time
    if let sent = links[index].lastSent[identity] {
      due = max(due, sent + (isDefence ? Self.defenceInterval : Self.repeatInterval))
    }
    if let place = links[index].pending.firstIndex(where: { $0.identity == identity }) {
      links[index].pending[place].due = min(links[index].pending[place].due, due)
      if links[index].pending[place].askers.count <= LinkState.askerLimit {
        links[index].pending[place].askers.append(source)
      }
      return
    }
    guard links[index].pending.count < LinkState.pendingLimit else { return }
    links[index].pending.append(
      LinkState.Pending(
        identity: identity, due: due, askers: [source], isShared: !owned.isUnique))
  }

  /// Further known answers of one asker: what only that one asked for is needless then.
  private mutating func forget(_ known: [Record], for source: Endpoint, on index: Int) {
    for record in known {
      guard let owned = links[index].answer(record.identity),
        record.timeToLive >= owned.record.timeToLive / 2
      else { continue }
      links[index].pending.removeAll {
        $0.identity == record.identity && $0.askers.allSatisfy { $0 == source }
      }
    }
  }

  /// A resolver that knows nothing of multicast gets what it expects (RFC 6762 §6.7).
  private mutating func answerLegacy(_ query: Message, to source: Endpoint, on index: Int) {
    guard links[index].link.isOnLink(source.address) else { return }
    var reply = Message(id: query.id, isResponse: true)
    reply.questions = query.questions.map { question in
      Question(question.key.name, question.key.type, questionClass: question.questionClass)
    }
    let owned = query.questions.flatMap { links[index].answers(to: $0) }.map(\.record)
    guard !owned.isEmpty else { return }
    reply.answers = owned.map(Self.legacy)
    let plain = reply.encoded(compressesTargets: false)
    reply.additionals = links[index].additionals(to: owned).map(Self.legacy)
    let full = reply.encoded(compressesTargets: false)
    let fits = full.count <= Message.maximumSentLength
    guard fits || plain.count <= Message.maximumSentLength else { return }
    transmit(fits ? full : plain, to: source, on: links[index].link)
  }

  private static func legacy(_ record: Record) -> Record {
    var record = record
    record.flushesCache = false
    record.timeToLive = min(record.timeToLive, TimeToLive.legacy)
    return record
  }
}
