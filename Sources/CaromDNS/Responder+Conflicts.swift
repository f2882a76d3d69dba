import CaromCore

extension Responder {
  /// Looks through a response for records that contradict ours (RFC 6762 §8.1, §9), or make
  /// an answer of ours needless (§7.4) or necessary (§6.6).
  package mutating func handleResponse(
    _ response: Message, from datagram: Datagram, at now: Instant
  ) {
    guard let index = links.firstIndex(where: { $0.link.index == datagram.interface }) else {
      return
    }
    let link = links[index].link.index
    for record in response.answers + response.additionals
    where record.recordClass == Record.internet {
      compare(record, on: index, at: now)
    }
    for record in response.answers + response.additionals
    where record.timeToLive > 0 && record.type != .nsec {
      for id in claims(of: record.name) { contest(id, by: record, on: link, at: now) }
    }
  }

  /// Same record from another: suppress ours, or refresh theirs.
  private mutating func compare(_ record: Record, on index: Int, at now: Instant) {
    guard let own = links[index].owned(record.identity) else { return }
    if record.timeToLive >= own.record.timeToLive {
      links[index].pending.removeAll { $0.identity == record.identity && $0.isShared }
    } else if record.timeToLive < own.record.timeToLive / 2 {
      let due = now.advanced(by: generator.duration(in: Self.sharedDelay))
      guard !links[index].pending.contains(where: { $0.identity == record.identity }) else {
        return
      }
      links[index].pending.append(
        LinkState.Pending(identity: record.identity, due: due, askers: [], isShared: true))
    }
  }

  private func claims(of name: Name) -> [PublicationID] {
    ([host] + services).filter { !$0.progress.isEmpty && $0.name == name }.map(\.id)
  }

  private mutating func contest(
    _ id: PublicationID, by record: Record, on link: UInt32, at now: Instant
  ) {
    guard let claim = claim(id), let state = claim.state(on: link), !isOurs(record, claim, at: now)
    else { return }
    switch state {
    case .probing(let prober):
      if prober.hasAsked { lose(id, at: now) }
    case .announcing, .settled:
      let types = links.flatMap { records(of: claim, on: $0.link) }
        .filter { $0.isUnique && $0.record.name == record.name }.map(\.record.type)
      guard types.contains(record.type) else { return }
      probeAgain(id, on: link, at: now)
    }
  }

  /// The same data is never a conflict (RFC 6762 §9): an own echo, another process of this
  /// host, another interface on the same link, or what we said ourselves a moment ago.
  private func isOurs(_ record: Record, _ claim: Claim, at now: Instant) -> Bool {
    if links.contains(where: {
      records(of: claim, on: $0.link).contains {
        $0.record.identity == record.identity
      }
    }) {
      return true
    }
    return former.contains { $0.identity == record.identity && $0.until >= now }
  }

  func claim(_ id: PublicationID) -> Claim? {
    id == host.id ? host : services.first { $0.id == id }
  }

  mutating func modify(_ id: PublicationID, _ body: (inout Claim) -> Void) {
    if id == host.id {
      body(&host)
    } else if let index = services.firstIndex(where: { $0.id == id }) {
      body(&services[index])
    }
  }

  /// Somebody says otherwise about a name of ours: ask again who has it.
  private mutating func probeAgain(_ id: PublicationID, on link: UInt32, at now: Instant) {
    var start: Instant?
    modify(id) { claim in
      start = claim.recordConflict(at: now)
      if let start { claim.set(.probing(Prober(start: start)), on: link) }
    }
    guard start != nil else { return fail(id, at: now) }
    rebuild()
  }

  /// The name is another's: take the next one, on every link.
  private mutating func lose(_ id: PublicationID, at now: Instant) {
    if let claim = claim(id), case .service(let service) = claim.purpose, !service.renames {
      return fail(id, at: now)
    }
    let before = links.map(\.records)
    let dependents = id == host.id ? services : []
    for claim in dependents { remember(claim, at: now) }
    var start: Instant?
    modify(id) { claim in
      start = claim.recordConflict(at: now)
      guard let start else { return }
      claim.rename()
      for place in claim.progress { claim.set(.probing(Prober(start: start)), on: place.link) }
    }
    guard start != nil else { return fail(id, at: now) }
    rebuild()
    sendGoodbyes(before)
    if id == host.id {
      emit(.hostRenamed(host.label))
      for index in services.indices { announceAgain(at: index, at: now) }
    }
  }

  private mutating func fail(_ id: PublicationID, at now: Instant) {
    let lost = id == host.id ? services.map(\.id) : [id]
    for id in lost {
      withdraw(id, at: now)
      emit(.failed(id))
    }
  }

  /// Compares probes of others for names that we are probing for too (RFC 6762 §8.2).
  mutating func compareProbes(_ query: Message, on index: Int, at now: Instant) {
    guard !query.authorities.isEmpty else { return }
    let link = links[index].link
    for claim in [host] + services {
      guard case .probing(var prober) = claim.state(on: link.index), prober.hasAsked else {
        continue
      }
      let name = claim.name
      let theirs = query.authorities.filter { $0.name == name }
      guard !theirs.isEmpty, !theirs.allSatisfy({ isOurs($0, claim, at: now) }),
        Prober.tiebreak(proposals(of: claim, on: link), theirs) == .lost
      else { continue }
      prober.yield(at: now)
      modify(claim.id) { $0.set(.probing(prober), on: link.index) }
    }
  }
}
