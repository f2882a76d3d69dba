import CaromCore

extension Responder {
  /// Starts publishing a service; events follow. The service's name is first claimed on every link.
  /// If the name is known to be unique, it is not probed, and the service is announced before this
  /// method returns.
  package mutating func publish(
    _ service: Registration, at now: Instant
  ) throws(PublicationError) -> PublicationID {
    guard serviceCount < Self.publicationLimit else { throw .tooMany }
    try service.validate()
    let isHostUnique = claims[.host]?.isUnique ?? false
    let host: PublicationID = service.isUnique && !isHostUnique ? .uniqueHost : .host
    var claim = Claim(
      id: makeID(), purpose: .service(service, host: host), label: service.instance.composed,
      target: name(of: host))
    if names[claim.name] != nil {
      guard service.renames else { throw .nameTaken }
      claim.rename(to: freeLabel(after: claim.label, for: claim), target: name(of: host))
    }
    claims[claim.id] = claim
    names[claim.name] = claim.id
    let start = nextProbeStart(at: now)
    for index in links.indices { beginClaim(claim.id, on: index, start: start, at: now) }
    if service.isUnique { handleTimeout(at: now) }
    return claim.id
  }

  /// Changes the TXT record of a service. Questions are answered with the new record from now on.
  /// Changes are announced at most once a second; beyond ten in a minute, a change is announced
  /// once `UpdateHistory.quietPeriod` has passed without a further change.
  package mutating func update(
    _ id: PublicationID, text: TXTRecord, at now: Instant
  ) throws(PublicationError) {
    try changeService(id, at: now) { $0.text = text }
  }

  /// Changes the subtypes of a service and sends goodbye records for the removed ones.
  package mutating func update(
    _ id: PublicationID, subtypes: [String], at now: Instant
  ) throws(PublicationError) {
    try changeService(id, at: now) { $0.subtypes = subtypes }
  }

  /// Sends goodbye records for the old name and claims the new name. A `renamed` event follows.
  package mutating func rename(
    _ id: PublicationID, to instance: String, at now: Instant
  ) throws(PublicationError) {
    guard let claim = claims[id], var service = claim.service else { return }
    service.instance = instance
    try service.validate()
    let label = instance.composed
    guard label != claim.label else { return }
    let taken = names[Claim.name(label, for: .service(service, host: .host))]
    guard taken == nil || taken == id || service.renames else { throw .nameTaken }
    claims[id]?.conflicts = ConflictHistory()
    let isFree = taken == nil || taken == id
    let free = isFree ? label : freeLabel(after: label, for: claim)
    changeLabel(id, to: free, as: service, start: nextProbeStart(at: now), at: now)
    if service.isUnique { handleTimeout(at: now) }
  }

  /// Ends a publication. Its goodbye records are sent after `goodbyeDelay`, together with those of
  /// other publications that end during this delay.
  package mutating func withdraw(_ id: PublicationID, at now: Instant) { withdraw([id], at: now) }

  /// Ends all publications. Their goodbye records are queued before this method returns.
  package mutating func withdrawAll(at now: Instant) {
    withdraw(serviceIDs, at: now)
    sendGoodbyes()
  }

  mutating func withdraw(_ ids: [PublicationID], at now: Instant) {
    var goodbyes = Goodbyes()
    for id in ids where id > .uniqueHost {
      guard let claim = claims[id] else { continue }
      for link in claim.progress.map(\.link) { endClaim(id, on: link, &goodbyes) }
      names[claim.name] = nil
      claims[id] = nil
    }
    guard !goodbyes.records.isEmpty else { return }
    pendingGoodbyes.add(goodbyes)
    goodbyeTime = goodbyeTime ?? now.advanced(by: Self.goodbyeDelay)
  }

  /// Sends the goodbye records of withdrawn publications now.
  package mutating func sendGoodbyes() {
    guard goodbyeTime != nil else { return }
    goodbyeTime = nil
    var goodbyes = pendingGoodbyes
    pendingGoodbyes = Goodbyes()
    // A record that has been published again stays.
    for link in links {
      goodbyes.removeAll(on: link.link.index) { link.owned.slot(of: $0.identity) != nil }
    }
    send(goodbyes)
  }

  /// Returns the first label that no claim of this responder uses, starting with the successor of
  /// `label` whose number is `step` higher.
  func freeLabel(after label: String, by step: Int = 1, for claim: Claim) -> String {
    var label = claim.successor(of: label, by: step)
    while names[Claim.name(label, for: claim.purpose)] != nil {
      label = claim.successor(of: label, by: 1)
    }
    return label
  }
}

// MARK: - Changes

extension Responder {
  private mutating func changeService(
    _ id: PublicationID, at now: Instant, _ body: (inout Registration) -> Void
  ) throws(PublicationError) {
    guard let claim = claims[id], let current = claim.service, let host = claim.host else { return }
    var service = current
    body(&service)
    try service.validate()
    guard service != current else { return }
    let start = claim.isOwnedAnywhere ? claims[id]?.updates.schedule(at: now) : nil
    let target = name(of: host)
    replace(id, announcedAt: start ?? now, at: now) { $0.change(to: service, target: target) }
    handleTimeout(at: now)
  }

  /// Replaces a claim's records, and announces the new ones from `start` on the links where its
  /// name is claimed. Sends goodbye records only for shared records, because the cache-flush bit
  /// makes other hosts discard the old unique records (RFC 6762 §8.4).
  mutating func replace(
    _ id: PublicationID, announcedAt start: Instant, at now: Instant, _ body: (inout Claim) -> Void
  ) {
    guard let old = claims[id] else { return }
    recordReplaced(id, at: now)
    var new = old
    body(&new)
    claims[id] = new
    var goodbyes = Goodbyes()
    for index in links.indices where old.isOwned(on: links[index].link.index) {
      let link = links[index].link
      let removed = links[index].replace(
        old.records(on: link), by: new.records(on: link), announcedAt: start, at: now)
      goodbyes.add(removed.filter { !$0.isUnique }, on: link.index)
      scheduleAnnouncement(id, on: index)
    }
    send(goodbyes)
  }

  /// Sets the time of a claim's next announcement from the times of its records.
  mutating func scheduleAnnouncement(_ id: PublicationID, on index: Int) {
    let link = links[index].link
    guard let claim = claims[id],
      let next = links[index].owned.nextAnnouncement(of: claim.records(on: link))
    else { return }
    // A timer that is armed for an earlier time is armed again when it fires.
    if case .announcing(let armed) = claim.state(on: link.index), armed <= next {
      claims[id]?.set(.announcing(next: next), on: link.index)
    } else {
      set(.announcing(next: next), of: id, on: index)
    }
  }

  /// Renames a claim on every link: sends goodbye records where the old name was claimed, then
  /// probes for the new name.
  mutating func changeLabel(
    _ id: PublicationID, to label: String, as service: Registration? = nil, start: Instant,
    at now: Instant
  ) {
    guard let old = claims[id] else { return }
    recordReplaced(id, at: now)
    var goodbyes = Goodbyes()
    for index in links.indices {
      let link = links[index].link.index
      guard old.state(on: link) != nil else { continue }
      let removed = set(.probing(Prober(start: start)), of: id, on: index)
      // The service type remains: its pointer is announced again within about a second.
      goodbyes.add(removed.filter { $0.record.name != Claim.typesName }, on: link)
    }
    names[old.name] = nil
    let target = name(of: old.host ?? .host)
    if let service { claims[id]?.change(to: service, target: target) }
    claims[id]?.rename(to: label, target: target)
    names[name(of: id)] = id
    if old.isUnique {
      for index in links.indices where old.state(on: links[index].link.index) != nil {
        set(.announcing(next: now), of: id, on: index)
      }
    }
    send(goodbyes)
  }
}
