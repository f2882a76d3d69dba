import CaromCore

extension Responder {
  /// Tells of an interface, or of its new addresses: names are claimed there anew.
  package mutating func setLink(_ link: Link, at now: Instant) {
    guard let index = place(of: link.index) else {
      let index = links.firstIndex { $0.link.index > link.index } ?? links.count
      links.insert(ResponderLink(link), at: index)
      let start = nextProbeStart(at: now)
      for id in serviceIDs { begin(id, on: index, start: start, at: now) }
      return handleTimeout(at: now)
    }
    guard !links[index].link.isSame(as: link) else {
      links[index].link = link
      return
    }
    reclaimNames(on: index, as: link, at: now)
  }

  /// Claims every name anew on every link, such as after the computer slept.
  package mutating func reclaimNames(at now: Instant) {
    for index in links.indices { reclaimNames(on: index, as: links[index].link, at: now) }
  }

  private mutating func reclaimNames(on index: Int, as link: Link, at now: Instant) {
    let ids = claims.keys.filter { claims[$0]?.state(on: link.index) != nil }.sorted()
    let start = nextProbeStart(at: now)
    let addresses = Set(link.addresses.map(\.address))
    var goodbyes = Goodbyes()
    for id in ids {
      if id <= .uniqueHost { remember(id, at: now) }
      let old = set(.probing(Prober(start: start)), of: id, on: index)
      // The others are told again, and till then nobody needs to drop them (RFC 6762 §8.4).
      goodbyes.add(old.filter { $0.isOther(than: addresses) }, on: link.index)
    }
    links[index].restart(link)
    send(goodbyes)
    for id in ids where claims[id]?.isUnique ?? false {
      set(.announcing(Announcer(start: now)), of: id, on: index)
    }
    handleTimeout(at: now)
  }

  /// An interface is gone.
  package mutating func removeLink(_ link: UInt32, at now: Instant) {
    guard let index = place(of: link) else { return }
    links.remove(at: index)
    for id in claims.keys {
      claims[id]?.set(nil, on: link)
      claims[id]?.dependents[link] = nil
    }
    for id in serviceIDs { report(id) }
  }

  /// When the names that are new now are asked for first: all of them together.
  mutating func nextProbeStart(at now: Instant) -> Instant {
    if probeStart <= now || now.advanced(by: Self.probeDelay.upperBound) < probeStart {
      probeStart = now.advanced(by: generator.duration(in: Self.probeDelay))
    }
    return probeStart
  }
}

// MARK: - Where claims stand

extension Responder {
  /// Starts to claim a service's name on a link, and its host's where that is new.
  mutating func begin(
    _ id: PublicationID, on index: Int, start: Instant, at now: Instant
  ) {
    let link = links[index].link.index
    guard let claim = claims[id], let service = claim.service, let host = claim.host,
      service.isPublished(on: link), claim.state(on: link) == nil
    else { return }
    claims[host]?.dependents[link, default: 0] += 1
    for id in [host, id] where claims[id]?.state(on: link) == nil {
      let isUnique = claims[id]?.isUnique ?? false
      set(
        isUnique ? .announcing(Announcer(start: now)) : .probing(Prober(start: start)), of: id,
        on: index)
    }
  }

  /// Ends a service's claim on a link, and its host's with the last one.
  mutating func end(_ id: PublicationID, on link: UInt32, _ goodbyes: inout Goodbyes) {
    guard let index = place(of: link), let host = claims[id]?.host else { return }
    goodbyes.add(set(nil, of: id, on: index), on: link)
    let left = (claims[host]?.dependents[link] ?? 1) - 1
    claims[host]?.dependents[link] = left > 0 ? left : nil
    if left <= 0 { goodbyes.add(set(nil, of: host, on: index), on: link) }
  }

  /// Moves a claim on a link, and keeps the link's records and the timers in step; gives the
  /// records that are not ours any more.
  @discardableResult
  mutating func set(
    _ state: Claim.Progress?, of id: PublicationID, on index: Int
  ) -> [OwnedRecord] {
    let link = links[index].link
    guard let old = claims[id] else { return [] }
    claims[id]?.set(state, on: link.index)
    if let next = state?.nextTimeout { timers.insert(.claim(id, link: link.index), at: next) }
    switch (old.isOwned(on: link.index), state?.isOwned ?? false) {
    case (false, true):
      links[index].owned.insert(old.records(on: link))
      return []
    case (true, false): return links[index].owned.remove(old.records(on: link))
    case (true, true), (false, false): return []
    }
  }

  /// Unique records that are about to be replaced: their echo is no conflict.
  mutating func remember(_ id: PublicationID, at now: Instant) {
    guard let claim = claims[id] else { return }
    if former.count >= Self.echoLimit { former = former.filter { $0.value >= now } }
    for link in links {
      for owned in claim.records(on: link.link)
      where owned.role == .unique && former.count < Self.echoLimit {
        former[owned.record.identity] = now.advanced(by: Self.echoLife)
      }
    }
  }

  mutating func send(_ goodbyes: Goodbyes) {
    for index in links.indices {
      let link = links[index].link
      guard let records = goodbyes.records[link.index] else { continue }
      for response in Response.pack(records, limit: link.payloadLimit) {
        multicast(response.payload, on: link)
      }
    }
  }
}

/// Records that are ours no more, by link (RFC 6762 §10.1).
struct Goodbyes: Sendable {
  private(set) var records: [UInt32: [Record]] = [:]

  /// The NSEC needs none: nobody keeps it when the records that it speaks of are gone.
  mutating func add(_ owned: [OwnedRecord], on link: UInt32) {
    for owned in owned where owned.role != .absence {
      var record = owned.record
      record.timeToLive = 0
      records[link, default: []].append(record)
    }
  }
}
