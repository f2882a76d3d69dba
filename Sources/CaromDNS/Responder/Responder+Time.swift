import CaromCore

extension Responder {
  /// The number of claims to try first when packing a probe. More claims rarely fit into a frame.
  private static let initialClaimsPerProbe = 32

  /// Performs everything that is due: sends probes, announcements and answers.
  package mutating func handleTimeout(at now: Instant) {
    if let goodbyeTime, goodbyeTime <= now { sendGoodbyes() }
    while let next = timers.nextDeadline, next <= now {
      var dueClaims: [UInt32: Set<PublicationID>] = [:]
      while let timer = timers.popFirst(until: now) {
        switch timer {
        case .claim(let id, let link): dueClaims[link, default: []].insert(id)
        case .request(let source, let link): answerRequest(of: source, on: link, at: now)
        }
      }
      for index in links.indices {
        guard let ids = dueClaims[links[index].link.index] else { continue }
        advance(ids.sorted(), on: index, at: now)
      }
    }
    for index in links.indices { sendDueAnswers(on: index, at: now) }
  }

  /// Advances each claim in `ids` whose timer on the link is due. A claim to a name succeeds if no
  /// other host has answered the probes.
  private mutating func advance(_ ids: [PublicationID], on index: Int, at now: Instant) {
    let link = links[index].link.index
    var toProbe: [PublicationID] = []
    var toAnnounce: [PublicationID] = []
    for id in ids {
      switch claims[id]?.state(on: link) {
      case .probing(var prober):
        switch prober.handleTimeout(at: now) {
        case .claim: set(.announcing(next: now), of: id, on: index)
        case .probe:
          set(.probing(prober), of: id, on: index)
          toProbe.append(id)
        case nil: break
        }
      case .announcing(let next):
        // A change of the records may have postponed the announcement.
        if next <= now { toAnnounce.append(id) } else { arm(id, on: link, at: next) }
      case .announced, nil: break
      }
    }
    probe(toProbe, on: index)
    // Announce hosts after the services that refer to them.
    let hosts = toAnnounce.prefix { $0 <= .uniqueHost }
    announce(toAnnounce.dropFirst(hosts.count) + hosts, on: index, at: now)
    for id in toAnnounce { reportIfPublished(id) }
  }

  /// Sends probes with their proposed records, with as many claims in each packet as fit (RFC 6762
  /// §8.1, §8.2).
  private mutating func probe(_ ids: [PublicationID], on index: Int) {
    let link = links[index].link
    var rest = ids.compactMap { claims[$0] }[...]
    var guess = Self.initialClaimsPerProbe
    while !rest.isEmpty {
      var count = min(rest.count, guess)
      var payload = Self.probe(rest.prefix(count), on: link, limit: link.payloadLimit)
      while payload == nil, count > 1 {
        count = max(1, count * 7 / 8)
        payload = Self.probe(rest.prefix(count), on: link, limit: link.payloadLimit)
      }
      payload = payload ?? Self.probe(rest.prefix(1), on: link, limit: Message.maximumPayload)
      if let payload { multicast(payload, on: link) }
      rest = rest.dropFirst(count)
      guess = count + max(1, count / 8)
    }
  }

  private static func probe(
    _ claims: ArraySlice<Claim>, on link: Link, limit: Int
  ) -> [UInt8]? {
    var writer = MessageWriter(id: 0, flags: 0, limit: limit)
    for claim in claims {
      let question = Question(claim.name, .any, wantsUnicast: link.receivesUnicast)
      guard writer.append(question) else { return nil }
    }
    for claim in claims {
      for record in claim.proposals(on: link) {
        // If even the largest message is too small for one claim, leave out its TXT record.
        guard writer.append(record, to: .authority) || limit == Message.maximumPayload else {
          return nil
        }
      }
    }
    return writer.bytes
  }

  /// Multicasts the records of the claims that are due to be announced (RFC 6762 §8.3).
  private mutating func announce(_ ids: ArraySlice<PublicationID>, on index: Int, at now: Instant) {
    guard !ids.isEmpty else { return }
    // A goodbye must not follow the announcement of a service that takes the old one's place.
    sendGoodbyes()
    let link = links[index].link
    var due: [Record] = []
    for id in ids {
      guard let records = claims[id]?.records(on: link) else { continue }
      due += links[index].owned.popDueAnnouncements(of: records, at: now)
    }
    send(Response.pack(due, limit: link.payloadLimit), on: index, at: now)
    for id in ids {
      guard let records = claims[id]?.records(on: link) else { continue }
      let next = links[index].owned.nextAnnouncement(of: records)
      set(next.map { .announcing(next: $0) } ?? .announced, of: id, on: index)
    }
  }

  /// Multicasts responses, and marks each of this host's records in them as sent at `now`.
  private mutating func send(_ responses: [Response], on index: Int, at now: Instant) {
    for response in responses {
      for record in response.records {
        if let slot = links[index].owned.slot(of: record.identity) {
          links[index].owned.markSent(slot, at: now)
        }
      }
      multicast(response.payload, on: links[index].link)
    }
  }

  /// Sends the answers that are due, with additional records that the queriers are likely to need
  /// next.
  mutating func sendDueAnswers(on index: Int, at now: Instant) {
    let slots = links[index].popDueRecords(at: now)
    guard !slots.isEmpty else { return }
    let responses = links[index].responses(slots) { entry in
      entry.lastSent.map { now - $0 < ResponderLink.repeatInterval } ?? false
    }
    let allowed = min(responses.count, links[index].budget.available(at: now.nanoseconds))
    _ = links[index].budget.consume(allowed, at: now.nanoseconds)
    send(Array(responses[..<allowed]), on: index, at: now)
    guard allowed < responses.count else { return }
    let later = now.advanced(by: ResponderLink.responseInterval * (responses.count - allowed))
    for response in responses[allowed...] {
      for record in response.records.prefix(response.answerCount) {
        guard let slot = links[index].owned.slot(of: record.identity) else { continue }
        counters.delayed += 1
        links[index].schedule([slot], at: later, isDefence: true)
      }
    }
  }

  /// Reports a service as published or renamed once its name and its host's name are claimed on
  /// every link. For a host's name, reports the services that depend on it.
  mutating func reportIfPublished(_ id: PublicationID) {
    guard let claim = claims[id], claim.isOwnedEverywhere else { return }
    claims[id]?.conflicts.reset()
    guard let host = claim.host else {
      for id in serviceIDs where claims[id]?.host == claim.id { reportIfPublished(id) }
      return
    }
    guard claims[host]?.isOwnedEverywhere ?? false, claim.reportedLabel != claim.label else {
      return
    }
    claims[id]?.reportedLabel = claim.label
    emit(
      claim.reportedLabel == nil
        ? .published(id, name: claim.label) : .renamed(id, name: claim.label))
  }
}
