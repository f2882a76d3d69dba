import CaromCore

extension Responder {
  /// Claims that are tried together at first in one probe; hardly more fit a frame.
  private static let mostProbes = 32

  /// Time has passed: probes, announces and answers what is due.
  package mutating func handleTimeout(at now: Instant) {
    while let next = timers.nextDeadline, next <= now {
      var turns: [UInt32: Set<PublicationID>] = [:]
      while let timer = timers.popFirst(until: now) {
        switch timer {
        case .claim(let id, let link): turns[link, default: []].insert(id)
        case .update(let id): applyWanted(id, at: now)
        case .request(let source, let link): answerRequest(of: source, on: link, at: now)
        }
      }
      for index in links.indices {
        guard let ids = turns[links[index].link.index] else { continue }
        take(ids.sorted(), on: index, at: now)
      }
    }
    for index in links.indices { flush(on: index, at: now) }
  }

  /// The turn of some claims on a link: names that stayed silent are ours.
  private mutating func take(_ ids: [PublicationID], on index: Int, at now: Instant) {
    let link = links[index].link.index
    var asking: [PublicationID] = []
    var telling: [PublicationID] = []
    for id in ids {
      switch claims[id]?.state(on: link) {
      case .probing(var prober):
        switch prober.handleTimeout(at: now) {
        case .claim: set(.announcing(Announcer(start: now)), of: id, on: index)
        case .probe:
          set(.probing(prober), of: id, on: index)
          asking.append(id)
        case nil: break
        }
      case .announcing(var announcer):
        guard announcer.handleTimeout(at: now) else { continue }
        let isDone = announcer.nextTimeout == nil
        set(isDone ? .settled : .announcing(announcer), of: id, on: index)
        telling.append(id)
      case .settled, nil: break
      }
    }
    probe(asking, on: index)
    // Hosts behind the services that need them.
    let hosts = telling.prefix { $0 <= .uniqueHost }
    announce(telling.dropFirst(hosts.count) + hosts, on: index, at: now)
    for id in telling { report(id) }
  }

  /// Probes with their proposed records, as many as fit each (RFC 6762 §8.1, §8.2).
  private mutating func probe(_ ids: [PublicationID], on index: Int) {
    let link = links[index].link
    var rest = ids.compactMap { claims[$0] }[...]
    var guess = Self.mostProbes
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
        // Alone at the highest limit, a text that does not fit is left out.
        guard writer.append(record, to: .authority) || limit == Message.maximumPayload else {
          return nil
        }
      }
    }
    return writer.bytes
  }

  /// Tells the link all records of some claims (RFC 6762 §8.3).
  private mutating func announce(_ ids: ArraySlice<PublicationID>, on index: Int, at now: Instant) {
    guard !ids.isEmpty else { return }
    let link = links[index].link
    var seen: Set<Record.Identity> = []
    var records: [Record] = []
    for id in ids {
      for owned in claims[id]?.records(on: link) ?? []
      where owned.role != .absence && seen.insert(owned.record.identity).inserted {
        records.append(owned.record)
      }
    }
    send(Response.pack(records, limit: link.payloadLimit), on: index, at: now)
  }

  /// Multicasts records of ours and remembers when.
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

  /// Sends the answers whose moment has come, with what their askers will want next.
  mutating func flush(on index: Int, at now: Instant) {
    let slots = links[index].takeDue(at: now)
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

  /// Tells the user a name that has become theirs.
  mutating func report(_ id: PublicationID) {
    guard let claim = claims[id], claim.isOwnedEverywhere else { return }
    claims[id]?.conflicts.settle()
    guard let host = claim.host else {
      for id in serviceIDs where claims[id]?.host == claim.id { report(id) }
      return
    }
    guard claims[host]?.isOwnedEverywhere ?? false, claim.reported != claim.label else { return }
    claims[id]?.reported = claim.label
    emit(
      claim.reported == nil
        ? .published(id, name: claim.label) : .renamed(id, name: claim.label))
  }
}
