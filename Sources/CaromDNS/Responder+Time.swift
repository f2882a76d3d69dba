import CaromCore

extension Responder {
  /// Time has passed: probes, announces and answers what is due.
  package mutating func handleTimeout(at now: Instant) {
    for index in links.indices {
      probe(on: index, at: now)
      announce(on: index, at: now)
      flush(on: index, at: now)
    }
    report()
  }

  /// One round of probes for all names whose turn it is; names that stayed silent are ours.
  private mutating func probe(on index: Int, at now: Instant) {
    let link = links[index].link
    var asking: [Claim] = []
    var claimed = false
    if host.probe(on: link.index, at: now, &claimed) { asking.append(host) }
    for service in services.indices where services[service].probe(on: link.index, at: now, &claimed)
    {
      asking.append(services[service])
    }
    if claimed { rebuild() }
    for payload in probes(for: asking, on: link) { multicast(payload, on: link) }
  }

  /// Probes with their proposed records, as many as fit each (RFC 6762 §8.1, §8.2).
  private func probes(for claims: [Claim], on link: Link) -> [[UInt8]] {
    var rest = claims[...]
    var payloads: [[UInt8]] = []
    while !rest.isEmpty {
      var count = rest.count
      var payload = probe(for: rest, on: link)
      while payload.count > Message.maximumSentLength, count > 1 {
        count = (count + 1) / 2
        payload = probe(for: rest.prefix(count), on: link)
      }
      payloads.append(payload)
      rest = rest.dropFirst(count)
    }
    return payloads
  }

  private func probe(for claims: ArraySlice<Claim>, on link: Link) -> [UInt8] {
    var message = Message()
    for claim in claims {
      message.questions.append(Question(claim.name, .any, wantsUnicast: asksUnicast))
      message.authorities += proposals(of: claim, on: link)
    }
    return message.encoded()
  }

  /// The unique records of a claim, as probes carry them: without cache-flush bit.
  func proposals(of claim: Claim, on link: Link) -> [Record] {
    records(of: claim, on: link).filter(\.isUnique).map { owned in
      var record = owned.record
      record.flushesCache = false
      return record
    }
  }

  private mutating func announce(on index: Int, at now: Instant) {
    let link = links[index].link
    var owners: Set<PublicationID> = []
    if host.announce(on: link.index, at: now) { owners.insert(host.id) }
    for service in services.indices where services[service].announce(on: link.index, at: now) {
      owners.insert(services[service].id)
    }
    guard !owners.isEmpty else { return }
    let due = links[index].records.filter { owners.contains($0.owner) }
    links[index].pending.removeAll { pending in
      due.contains { $0.record.identity == pending.identity }
    }
    send(Response.pack(due.map(\.record)), on: index, at: now)
  }

  /// Multicasts records of ours and remembers when.
  private mutating func send(_ responses: [Response], on index: Int, at now: Instant) {
    for response in responses {
      for record in response.records { links[index].lastSent[record.identity] = now }
      multicast(response.payload, on: links[index].link)
    }
  }

  /// Sends the answers whose moment has come, with what their askers will want next.
  mutating func flush(on index: Int, at now: Instant) {
    let due = links[index].pending.filter { $0.due <= now }
    guard !due.isEmpty else { return }
    links[index].pending.removeAll { $0.due <= now }
    let state = links[index]
    let answers = due.compactMap { state.answer($0.identity)?.record }
    send(Response.pack(answers, additionals: state.additionals), on: index, at: now)
  }

  /// Tells the user which names are theirs.
  private mutating func report() {
    for index in services.indices
    where services[index].isOwnedEverywhere && services[index].reported != services[index].label {
      let claim = services[index]
      services[index].reported = claim.label
      services[index].settleConflicts()
      emit(
        claim.reported == nil
          ? .published(claim.id, name: claim.label) : .renamed(claim.id, name: claim.label))
    }
    if host.isOwnedEverywhere { host.settleConflicts() }
  }
}

extension Claim {
  /// Whether it is to ask on `link` now; sets `claimed` where the link has become its own.
  fileprivate mutating func probe(
    on link: UInt32, at now: Instant, _ claimed: inout Bool
  ) -> Bool {
    guard case .probing(var prober) = state(on: link) else { return false }
    let action = prober.handleTimeout(at: now)
    switch action {
    case .claim:
      set(.announcing(Announcer(start: now)), on: link)
      claimed = true
    case .probe, nil: set(.probing(prober), on: link)
    }
    return action == .probe
  }

  /// Whether it is to announce on `link` now.
  fileprivate mutating func announce(on link: UInt32, at now: Instant) -> Bool {
    guard case .announcing(var announcer) = state(on: link) else { return false }
    let isDue = announcer.handleTimeout(at: now)
    set(announcer.nextTimeout == nil ? .settled : .announcing(announcer), on: link)
    return isDue
  }
}
