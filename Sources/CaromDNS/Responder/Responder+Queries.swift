import CaromCore

extension Responder {
  /// The random delay of shared answers, which keeps many hosts from answering at the same time
  /// (RFC 6762 §6).
  static let sharedDelay: ClosedRange<Duration> = .milliseconds(20) ... .milliseconds(120)
  /// The random delay of an answer while more known answers are expected (RFC 6762 §7.2).
  static let truncatedDelay: ClosedRange<Duration> = .milliseconds(400) ... .milliseconds(500)
  /// The maximum delay of an answer that waits for further known-answer packets, measured from the
  /// first packet.
  static let truncatedMaximumDelay = Duration.seconds(1)

  /// Handles a query and schedules or sends the answers.
  package mutating func handleQuery(_ query: Message, from datagram: Datagram, at now: Instant) {
    guard let index = index(of: datagram.interface) else { return }
    let link = links[index].link
    let source = datagram.source
    let isUnicast = !datagram.destination.address.isMulticast
    let isOnLink = link.isOnLink(source.address)
    let isLegacy = source.port != MulticastGroup.port
    guard isOnLink || (!isUnicast && !isLegacy) else {
      counters.offLink += 1
      return
    }
    if !query.authorities.isEmpty { compareProbes(query, on: index, at: now) }
    guard !isLegacy else { return answerLegacy(query, to: source, on: index, at: now) }
    let request = AnswerRequest(
      questions: questions(query, on: index), known: known(query, on: index),
      probedNames: Set(query.authorities.lazy.map(\.name)), source: source,
      allowsUnicast: isOnLink && !link.hasAddress(source.address), prefersUnicast: isUnicast,
      hasSeveralQuestions: query.questions.count > 1, arrival: now, due: now)
    if query.authorities.isEmpty, query.isTruncated || query.questions.isEmpty {
      collect(request, isLast: !query.isTruncated, on: index, at: now)
    } else {
      answer(request, on: index, isLate: false, at: now)
    }
    sendDueAnswers(on: index, at: now)
  }

  /// Returns the questions for names that this responder publishes, without duplicates.
  private func questions(_ query: Message, on index: Int) -> [Question] {
    var seen: Set<Question> = []
    return query.questions.filter {
      links[index].owned.has($0.key.name) && seen.insert($0).inserted
    }
  }

  /// Returns this host's records among the query's known answers, each with the time to live that
  /// the query states, in seconds.
  private func known(_ query: Message, on index: Int) -> [Record.Identity: UInt32] {
    var known: [Record.Identity: UInt32] = [:]
    for record in query.answers {
      guard let slot = links[index].owned.slot(of: record.identity),
        let identity = links[index].owned[slot]?.record.identity
      else { continue }
      known[identity] = max(known[identity] ?? 0, record.timeToLive)
    }
    return known
  }

  /// The answers to a query, except for the known answers, as record sets that are each sent whole.
  private struct Answers {
    /// The sets to send by unicast, and the questions that they answer.
    var direct: [[Int]] = []
    var directQuestions: [Question] = []
    /// The sets to multicast.
    var multicast: [(set: [Int], isDefence: Bool)] = []
    /// Whether the unicast or the multicast answers must be delayed by a random time.
    var delaysDirect: Bool
    var delaysMulticast: Bool
  }

  /// Sends or schedules the answers to all questions. If `isLate` is true, shared answers get no
  /// further random delay.
  private mutating func answer(
    _ request: AnswerRequest, on index: Int, isLate: Bool, at now: Instant
  ) {
    var answers = answers(to: request, on: index, at: now)
    let isDelayed = (answers.delaysDirect || answers.delaysMulticast) && !isLate
    let due = isDelayed ? answerTime(on: index, at: now) : now
    if !isLate, answers.delaysDirect {
      var delayed = request
      delayed.questions = answers.directQuestions
      if delay(delayed, until: due, on: index) { answers.direct = [] }
    }
    if !send(answers.direct, to: request, on: index, at: now) {
      answers.multicast += answers.direct.map { ($0, false) }
      answers.delaysMulticast = true
    }
    guard !answers.multicast.isEmpty else { return }
    let moment = answers.delaysMulticast ? due : now
    for (set, isDefence) in answers.multicast {
      links[index].schedule(set, at: isDefence ? now : moment, isDefence: isDefence)
    }
  }

  /// Returns the answers to a query. If a question asks for a unicast response, answers that were
  /// multicast recently are sent by unicast (RFC 6762 §5.4). If other hosts may have answers too,
  /// the answers are delayed, except for unicast answers to a query that was sent to this host
  /// alone (§6).
  private mutating func answers(
    to request: AnswerRequest, on index: Int, at now: Instant
  ) -> Answers {
    let isProbe = !request.probedNames.isEmpty
    var answers = Answers(delaysDirect: false, delaysMulticast: request.hasSeveralQuestions)
    var seen: Set<Int> = []
    for question in request.questions {
      let matches = links[index].answers(to: question)
      counters.examined += matches.sets.count
      let isDefence = request.probedNames.contains(question.key.name)
      let wantsUnicast = request.allowsUnicast && (question.wantsUnicast || request.prefersUnicast)
      for set in matches.sets {
        guard seen.insert(set[0]).inserted, !links[index].isKnown(set, request.known) else {
          continue
        }
        if wantsUnicast, links[index].isFresh(set, at: now) {
          answers.direct.append(set)
          if answers.directQuestions.last != question { answers.directQuestions.append(question) }
          let isShared = matches.isShared || request.hasSeveralQuestions
          answers.delaysDirect =
            answers.delaysDirect || (isShared && !request.prefersUnicast && !isProbe)
        } else {
          answers.multicast.append((set, isDefence))
          answers.delaysMulticast = answers.delaysMulticast || (matches.isShared && !isDefence)
        }
      }
    }
    return answers
  }

  /// Delays a request until `due`. If the querier already has a delayed request, adds the questions
  /// and known answers to that request, which keeps its due time. Returns false if too many
  /// queriers have delayed requests.
  private mutating func delay(
    _ request: AnswerRequest, until due: Instant, on index: Int
  ) -> Bool {
    let source = request.source
    if var waiting = links[index].requests[source] {
      waiting.known.merge(request.known, uniquingKeysWith: max)
      for question in request.questions where !waiting.questions.contains(question) {
        waiting.questions.append(question)
      }
      links[index].requests[source] = waiting
      return true
    }
    guard links[index].requests.count < AnswerRequest.querierLimit else { return false }
    links[index].requests[source] = request
    postpone(source, until: due, on: index)
    return true
  }

  /// Sends unicast answers, all or none. Returns false if the rate limit is exhausted; the caller
  /// then multicasts the answers, so that a flood of queries costs the link at most one multicast
  /// per second.
  private mutating func send(
    _ direct: [[Int]], to request: AnswerRequest, on index: Int, at now: Instant
  ) -> Bool {
    guard !direct.isEmpty else { return true }
    guard links[index].canAnswerByUnicast(at: now) else {
      counters.withheld += 1
      return false
    }
    let known = request.known
    let responses = links[index].responses(direct.flatMap(\.self)) { entry in
      known[entry.record.identity].map { $0 >= entry.record.timeToLive / 2 } ?? false
    }
    guard links[index].budget.consume(responses.count, at: now.nanoseconds) else {
      counters.withheld += 1
      return false
    }
    for response in responses {
      transmit(response.payload, to: request.source, on: links[index].link)
    }
    return true
  }

  /// Returns the time at which to send shared answers: together with pending answers if those are
  /// due within `sharedDelay`, and otherwise at a random time in that range (RFC 6762 §6).
  private mutating func answerTime(on index: Int, at now: Instant) -> Instant {
    let range = Self.sharedDelay
    let random = now.advanced(by: generator.duration(in: range))
    return links[index].sendTime(
      in: now.advanced(by: range.lowerBound)...now.advanced(by: range.upperBound), or: random)
  }
}

// MARK: - Known answers in several packets

extension Responder {
  /// Collects the known answers of a querier from several packets (RFC 6762 §7.2). `isLast` is true
  /// if no more packets follow.
  private mutating func collect(
    _ request: AnswerRequest, isLast: Bool, on index: Int, at now: Instant
  ) {
    let source = request.source
    let due = now.advanced(by: generator.duration(in: Self.truncatedDelay))
    guard var waiting = links[index].requests[source] else {
      guard !isLast, !request.questions.isEmpty else { return }
      guard links[index].requests.count < AnswerRequest.querierLimit else {
        counters.unassembled += 1
        return
      }
      links[index].requests[source] = request
      return postpone(source, until: due, on: index)
    }
    guard waiting.packets < AnswerRequest.packetLimit else {
      counters.unassembled += 1
      return
    }
    waiting.packets += 1
    waiting.known.merge(request.known, uniquingKeysWith: max)
    for question in request.questions where !waiting.questions.contains(question) {
      waiting.questions.append(question)
    }
    links[index].requests[source] = waiting
    if !isLast {
      let end = waiting.arrival.advanced(by: Self.truncatedMaximumDelay)
      postpone(source, until: min(due, end), on: index)
    }
  }

  private mutating func postpone(_ source: Endpoint, until due: Instant, on index: Int) {
    links[index].requests[source]?.due = due
    timers.insert(.request(source, link: links[index].link.index), at: due)
  }

  /// Answers a query that is due: all of its packets have arrived, or the wait for them is over.
  mutating func answerRequest(of source: Endpoint, on link: UInt32, at now: Instant) {
    guard let index = index(of: link), let request = links[index].requests[source],
      request.due <= now
    else { return }
    links[index].requests[source] = nil
    answer(request, on: index, isLate: true, at: now)
  }
}

// MARK: - Legacy queriers

extension Responder {
  /// Answers a legacy querier with a conventional unicast response (RFC 6762 §6.7), which is empty
  /// if the name exists without records of the type.
  private mutating func answerLegacy(
    _ query: Message, to source: Endpoint, on index: Int, at now: Instant
  ) {
    let asked = query.questions.filter { links[index].owned.has($0.key.name) }
    guard !asked.isEmpty else { return }
    let slots = asked.flatMap { links[index].answers(to: $0).sets.joined() }
    counters.examined += slots.count
    let records = slots.compactMap { links[index].owned[$0]?.owned }
    guard !records.isEmpty else { return }
    guard links[index].canAnswerByUnicast(at: now),
      links[index].budget.consume(1, at: now.nanoseconds)
    else {
      counters.withheld += 1
      return
    }
    let answers = records.filter { $0.role != .denial }.map(\.record)
    var writer = MessageWriter(
      id: query.id, flags: Message(isResponse: true).flags,
      limit: links[index].link.payloadLimit, compressesTargets: false)
    for question in query.questions {
      let key = question.key
      _ = writer.append(Question(key.name, key.type, questionClass: question.questionClass))
    }
    var seen: Set<Record.Identity> = []
    var isComplete = true
    for record in answers where seen.insert(record.identity).inserted {
      isComplete = writer.append(Self.legacy(record), to: .answer) && isComplete
    }
    // The TC bit has the meaning of conventional DNS here (§18.5).
    if !isComplete { writer.markTruncated() }
    for record in links[index].additionals(to: answers) where record.type != .nsec {
      guard isComplete, writer.append(Self.legacy(record), to: .additional) else { break }
    }
    transmit(writer.bytes, to: source, on: links[index].link)
  }

  private static func legacy(_ record: Record) -> Record {
    var record = record
    record.flushesCache = false
    record.timeToLive = min(record.timeToLive, TimeToLive.legacy)
    return record
  }
}
