import CaromCore

extension Responder {
  /// Publishes a service: events follow. Its name is claimed on every link first, but for one
  /// that is unique by construction: that is announced when this returns.
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
    for index in links.indices { begin(claim.id, on: index, start: start, at: now) }
    if service.isUnique { handleTimeout(at: now) }
    return claim.id
  }

  /// Changes the strings beside a service, and says so on every link where it is known; what
  /// changes more than ten times a minute is told later, and then as it is by then.
  package mutating func update(
    _ id: PublicationID, text: TXTRecord, at now: Instant
  ) throws(PublicationError) {
    try revise(id, at: now) { $0.text = text }
  }

  /// Changes the narrower types that a service is found under; those that go get a goodbye.
  package mutating func update(
    _ id: PublicationID, subtypes: [String], at now: Instant
  ) throws(PublicationError) {
    try revise(id, at: now) { $0.subtypes = subtypes }
  }

  /// Says goodbye under the old name and claims a new one; `renamed` follows.
  package mutating func rename(
    _ id: PublicationID, to instance: String, at now: Instant
  ) throws(PublicationError) {
    guard let claim = claims[id], var service = claim.wanted ?? claim.service else { return }
    service.instance = instance
    try service.validate()
    let label = instance.composed
    guard label != claim.label else { return }
    let taken = names[Claim.name(label, for: .service(service, host: .host))]
    guard taken == nil || taken == id || service.renames else { throw .nameTaken }
    claims[id]?.wanted = nil
    claims[id]?.conflicts = ConflictHistory()
    let isFree = taken == nil || taken == id
    let free = isFree ? label : freeLabel(after: label, for: claim)
    relabel(id, to: free, as: service, start: nextProbeStart(at: now), at: now)
    if service.isUnique { handleTimeout(at: now) }
  }

  /// Takes a service back: its records' goodbyes are ready to send when this returns.
  package mutating func withdraw(_ id: PublicationID, at now: Instant) { withdraw([id]) }

  /// Takes everything back.
  package mutating func withdrawAll(at now: Instant) { withdraw(serviceIDs) }

  mutating func withdraw(_ ids: [PublicationID]) {
    var goodbyes = Goodbyes()
    for id in ids where id > .uniqueHost {
      guard let claim = claims[id] else { continue }
      for link in claim.progress.map(\.link) { end(id, on: link, &goodbyes) }
      names[claim.name] = nil
      claims[id] = nil
    }
    send(goodbyes)
  }

  /// The first label after `label` that no claim of ours has.
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
  private mutating func revise(
    _ id: PublicationID, at now: Instant, _ body: (inout Registration) -> Void
  ) throws(PublicationError) {
    guard let claim = claims[id], let current = claim.service else { return }
    var service = claim.wanted ?? current
    body(&service)
    try service.validate()
    guard service != current else {
      claims[id]?.wanted = nil
      return
    }
    let allowed = claim.updates.allowed(at: now)
    guard claim.isOwnedAnywhere, allowed > now else {
      apply(service, to: id, at: now)
      return handleTimeout(at: now)
    }
    if claim.wanted == nil { timers.insert(.update(id), at: allowed) }
    claims[id]?.wanted = service
  }

  /// What had to wait is told now.
  mutating func applyWanted(_ id: PublicationID, at now: Instant) {
    guard let claim = claims[id], let service = claim.wanted else { return }
    let allowed = claim.updates.allowed(at: now)
    guard allowed <= now else { return timers.insert(.update(id), at: allowed) }
    apply(service, to: id, at: now)
  }

  /// Replaces the records of a service, and announces it where it is known.
  private mutating func apply(_ service: Registration, to id: PublicationID, at now: Instant) {
    guard let old = claims[id], let host = old.host else { return }
    claims[id]?.wanted = nil
    if old.isOwnedAnywhere { claims[id]?.updates.record(at: now) }
    let target = name(of: host)
    replace(id, at: now) { $0.change(to: service, target: target) }
    announceAgain(id, at: now)
  }

  /// Changes a claim's records, on the links where they are known too. Others' caches drop the
  /// unique ones by themselves, the shared ones by goodbyes (RFC 6762 §8.4).
  mutating func replace(
    _ id: PublicationID, at now: Instant, _ body: (inout Claim) -> Void
  ) {
    guard let old = claims[id] else { return }
    remember(id, at: now)
    var new = old
    body(&new)
    claims[id] = new
    var goodbyes = Goodbyes()
    for index in links.indices where old.isOwned(on: links[index].link.index) {
      let link = links[index].link
      links[index].owned.insert(new.records(on: link))
      let gone = links[index].owned.remove(old.records(on: link))
      goodbyes.add(gone.filter { !$0.isUnique }, on: link.index)
    }
    send(goodbyes)
  }

  mutating func announceAgain(_ id: PublicationID, at now: Instant) {
    guard let claim = claims[id] else { return }
    for index in links.indices where claim.isOwned(on: links[index].link.index) {
      set(.announcing(Announcer(start: now)), of: id, on: index)
    }
  }

  /// Takes another name on every link: goodbye where the old one was ours, and a new claim.
  mutating func relabel(
    _ id: PublicationID, to label: String, as service: Registration? = nil, start: Instant,
    at now: Instant
  ) {
    guard let old = claims[id] else { return }
    remember(id, at: now)
    var goodbyes = Goodbyes()
    for index in links.indices {
      let link = links[index].link.index
      guard old.state(on: link) != nil else { continue }
      let gone = set(.probing(Prober(start: start)), of: id, on: index)
      // The type stays: its pointer will be back in a second.
      goodbyes.add(gone.filter { $0.record.name != Claim.typesName }, on: link)
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
