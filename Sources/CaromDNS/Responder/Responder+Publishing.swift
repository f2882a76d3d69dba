import CaromCore

extension Responder {
  /// Starts publishing a service; events follow. The service's name is first claimed on every link,
  /// unless it is known to be unique. In that case, the service is announced before this method
  /// returns.
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

  /// Changes the TXT record of a service and announces it. At most ten changes per minute are
  /// announced without delay; a further change is delayed, and any later change replaces it.
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
    guard let claim = claims[id], var service = claim.pendingUpdate ?? claim.service else { return }
    service.instance = instance
    try service.validate()
    let label = instance.composed
    guard label != claim.label else { return }
    let taken = names[Claim.name(label, for: .service(service, host: .host))]
    guard taken == nil || taken == id || service.renames else { throw .nameTaken }
    claims[id]?.pendingUpdate = nil
    claims[id]?.conflicts = ConflictHistory()
    let isFree = taken == nil || taken == id
    let free = isFree ? label : freeLabel(after: label, for: claim)
    changeLabel(id, to: free, as: service, start: nextProbeStart(at: now), at: now)
    if service.isUnique { handleTimeout(at: now) }
  }

  /// Ends a publication. Its goodbye records are queued before this method returns.
  package mutating func withdraw(_ id: PublicationID, at now: Instant) { withdraw([id]) }

  /// Ends all publications. Their goodbye records are queued before this method returns.
  package mutating func withdrawAll(at now: Instant) { withdraw(serviceIDs) }

  mutating func withdraw(_ ids: [PublicationID]) {
    var goodbyes = Goodbyes()
    for id in ids where id > .uniqueHost {
      guard let claim = claims[id] else { continue }
      for link in claim.progress.map(\.link) { endClaim(id, on: link, &goodbyes) }
      names[claim.name] = nil
      claims[id] = nil
    }
    send(goodbyes)
  }

  /// Returns the first label after `label`, in the order of `Claim.successor(of:)`, that no claim
  /// of this responder uses.
  func freeLabel(after label: String, for claim: Claim) -> String {
    var label = label
    repeat {
      label = claim.successor(of: label)
    } while names[
      Claim.name(label, for: claim.purpose)] != nil
    return label
  }
}

// MARK: - Changes

extension Responder {
  private mutating func changeService(
    _ id: PublicationID, at now: Instant, _ body: (inout Registration) -> Void
  ) throws(PublicationError) {
    guard let claim = claims[id], let current = claim.service else { return }
    var service = claim.pendingUpdate ?? current
    body(&service)
    try service.validate()
    guard service != current else {
      claims[id]?.pendingUpdate = nil
      return
    }
    let allowed = claim.updates.nextUpdate(after: now)
    guard claim.isOwnedAnywhere, allowed > now else {
      apply(service, to: id, at: now)
      return handleTimeout(at: now)
    }
    if claim.pendingUpdate == nil { timers.insert(.update(id), at: allowed) }
    claims[id]?.pendingUpdate = service
  }

  /// Announces a delayed change to a service, if the rate limit now allows it.
  mutating func applyPendingUpdate(_ id: PublicationID, at now: Instant) {
    guard let claim = claims[id], let service = claim.pendingUpdate else { return }
    let allowed = claim.updates.nextUpdate(after: now)
    guard allowed <= now else { return timers.insert(.update(id), at: allowed) }
    apply(service, to: id, at: now)
  }

  /// Replaces the records of a service, and announces them where its name is claimed.
  private mutating func apply(_ service: Registration, to id: PublicationID, at now: Instant) {
    guard let old = claims[id], let host = old.host else { return }
    claims[id]?.pendingUpdate = nil
    if old.isOwnedAnywhere { claims[id]?.updates.record(at: now) }
    let target = name(of: host)
    replace(id, at: now) { $0.change(to: service, target: target) }
    announceAgain(id, at: now)
  }

  /// Replaces a claim's records on the links where its name is claimed. Sends goodbye records only
  /// for shared records, because the cache-flush bit makes other hosts discard the old unique
  /// records (RFC 6762 §8.4).
  mutating func replace(
    _ id: PublicationID, at now: Instant, _ body: (inout Claim) -> Void
  ) {
    guard let old = claims[id] else { return }
    recordReplaced(id, at: now)
    var new = old
    body(&new)
    claims[id] = new
    var goodbyes = Goodbyes()
    for index in links.indices where old.isOwned(on: links[index].link.index) {
      let link = links[index].link
      links[index].owned.insert(new.records(on: link))
      let removed = links[index].owned.remove(old.records(on: link))
      goodbyes.add(removed.filter { !$0.isUnique }, on: link.index)
    }
    send(goodbyes)
  }

  mutating func announceAgain(_ id: PublicationID, at now: Instant) {
    guard let claim = claims[id] else { return }
    for index in links.indices where claim.isOwned(on: links[index].link.index) {
      set(.announcing(Announcer(start: now)), of: id, on: index)
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
        set(.announcing(Announcer(start: now)), of: id, on: index)
      }
    }
    send(goodbyes)
  }
}
