import CaromCore

extension Responder {
  /// Looks through a response for records that contradict ours (RFC 6762 §8.1, §9), or make
  /// an answer of ours needless (§7.4) or necessary (§6.6).
  package mutating func handleResponse(
    _ response: Message, from datagram: Datagram, at now: Instant
  ) {
    guard let index = place(of: datagram.interface) else { return }
    let isMulticast = datagram.destination.address.isMulticast
    guard isMulticast || links[index].link.isOnLink(datagram.source.address) else {
      counters.offLink += 1
      return
    }
    let isOwnHost = links.contains { $0.link.hasAddress(datagram.source.address) }
    for records in [response.answers, response.additionals] {
      for record in records where record.recordClass == Record.internet {
        if isMulticast { compare(record, on: index, at: now) }
        guard record.timeToLive > 0, record.type != .nsec, let id = names[record.name] else {
          continue
        }
        // The processes of one host share its name, and may learn of its addresses in turn.
        if isOwnHost, id <= .uniqueHost { continue }
        contest(id, by: record, on: links[index].link.index, at: now)
      }
    }
  }

  /// Same record from another: count ours as said, or set right what theirs made of it.
  private mutating func compare(_ record: Record, on index: Int, at now: Instant) {
    guard let slot = links[index].owned.slot(of: record.identity),
      let own = links[index].owned[slot]
    else { return }
    let life = own.record.timeToLive
    if record.timeToLive >= life, own.batch != nil {
      // Of a set that is said whole, another may have said a part.
      if links[index].set(of: slot).count == 1 { links[index].owned.markSent(slot, at: now) }
    } else if record.timeToLive < life / 2, own.batch == nil {
      let due = now.advanced(by: generator.duration(in: Self.sharedDelay))
      links[index].schedule(links[index].set(of: slot), at: due, isDefence: false)
    }
  }

  private mutating func contest(
    _ id: PublicationID, by record: Record, on link: UInt32, at now: Instant
  ) {
    guard let claim = claims[id], let state = claim.state(on: link), !isOurs(record, claim, at: now)
    else { return }
    switch state {
    case .probing(let prober):
      if prober.hasAsked { lose(id, at: now) }
    case .announcing, .settled:
      guard claim.has(record.type, on: links.map(\.link)) else { return }
      probeAgain(id, on: link, at: now)
    }
  }

  /// The same data is never a conflict (RFC 6762 §9): an own echo, another process of this
  /// host, another interface on the same link, or what we said ourselves a moment ago.
  private func isOurs(_ record: Record, _ claim: Claim, at now: Instant) -> Bool {
    if claim.says(record.data, on: links.map(\.link)) { return true }
    return former[record.identity].map { $0 >= now } ?? false
  }

  /// Somebody says otherwise about a name of ours: ask again who has it.
  private mutating func probeAgain(_ id: PublicationID, on link: UInt32, at now: Instant) {
    guard let index = place(of: link) else { return }
    guard let start = claims[id]?.conflicts.record(at: now) else {
      return fail(id, .noFreeName)
    }
    set(.probing(Prober(start: start)), of: id, on: index)
  }

  /// The name is another's: take the next one, on every link.
  private mutating func lose(_ id: PublicationID, at now: Instant) {
    guard let claim = claims[id] else { return }
    if let service = claim.service, !service.renames { return fail(id, .nameTaken) }
    guard let start = claims[id]?.conflicts.record(at: now) else {
      return fail(id, .noFreeName)
    }
    relabel(id, to: freeLabel(after: claim.label, for: claim), start: start, at: now)
    if claim.isUnique { probeEverywhere(id, start: start) }
    guard claim.host == nil else { return }
    let target = name(of: id)
    for service in serviceIDs where claims[service]?.host == id {
      replace(service, at: now) { $0.rename(to: $0.label, target: target) }
      announceAgain(service, at: now)
    }
    if id == .host { emit(.hostRenamed(claims[id]?.label ?? claim.label)) }
    handleTimeout(at: now)
  }

  /// A name that was to be unique was not: its successor is asked for like any other.
  private mutating func probeEverywhere(_ id: PublicationID, start: Instant) {
    for index in links.indices where claims[id]?.state(on: links[index].link.index) != nil {
      set(.probing(Prober(start: start)), of: id, on: index)
    }
  }

  private mutating func fail(_ id: PublicationID, _ error: PublicationError) {
    let lost = id > .uniqueHost ? [id] : serviceIDs.filter { claims[$0]?.host == id }
    withdraw(lost)
    for id in lost { emit(.failed(id, error)) }
  }

  /// Compares probes of others for names that we are probing for too (RFC 6762 §8.2).
  mutating func compareProbes(_ query: Message, on index: Int, at now: Instant) {
    let link = links[index].link
    let proposals = Dictionary(grouping: query.authorities, by: \.name)
    var seen: Set<Name> = []
    for name in query.authorities.map(\.name) where seen.insert(name).inserted {
      guard let theirs = proposals[name], let id = names[name], let claim = claims[id],
        case .probing(var prober) = claim.state(on: link.index), prober.hasAsked,
        !theirs.allSatisfy({ isOurs($0, claim, at: now) }),
        Prober.tiebreak(claim.proposals(on: link), theirs) == .lost
      else { continue }
      guard let start = claims[id]?.conflicts.record(at: now) else {
        fail(id, .noFreeName)
        continue
      }
      prober.yield(until: max(start, now.advanced(by: Prober.deferral)))
      set(.probing(prober), of: id, on: index)
    }
  }
}
