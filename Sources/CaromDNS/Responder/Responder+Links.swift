import CaromCore

extension Responder {
  /// Adds a link or updates it. If its addresses or its carrier changed, the names on it are
  /// claimed again.
  package mutating func setLink(_ link: Link, at now: Instant) {
    guard let index = index(of: link.index) else {
      let index = links.firstIndex { $0.link.index > link.index } ?? links.count
      links.insert(ResponderLink(link), at: index)
      let start = nextProbeStart(at: now)
      for id in serviceIDs { beginClaim(id, on: index, start: start, at: now) }
      return handleTimeout(at: now)
    }
    guard !links[index].link.isSame(as: link) else {
      return replaceLink(on: index, with: link, at: now)
    }
    reclaimNames(on: index, as: link, at: now)
  }

  /// Replaces a link with `link`, on which every claimed name remains claimed. Updates the host's
  /// reverse names, which are published only while no other process on this host uses port 5353.
  private mutating func replaceLink(on index: Int, with link: Link, at now: Instant) {
    let old = links[index].link
    links[index].link = link
    guard let claim = claims[.host], claim.isOwned(on: link.index),
      old.reverseNames != link.reverseNames
    else { return }
    var goodbyes = Goodbyes()
    goodbyes.add(links[index].owned.remove(claim.reverseRecords(on: old)), on: link.index)
    send(goodbyes)
    links[index].owned.insert(claim.reverseRecords(on: link), announcedAt: now)
    scheduleAnnouncement(.host, on: index)
    handleTimeout(at: now)
  }

  /// Claims every name on every link again, for example after the computer has slept.
  package mutating func reclaimNames(at now: Instant) {
    for index in links.indices { reclaimNames(on: index, as: links[index].link, at: now) }
  }

  private mutating func reclaimNames(on index: Int, as link: Link, at now: Instant) {
    let ids = claims.keys.filter { claims[$0]?.state(on: link.index) != nil }.sorted()
    let start = nextProbeStart(at: now)
    var goodbyes = Goodbyes()
    for id in ids {
      if id <= .uniqueHost { recordReplaced(id, at: now) }
      let old = set(.probing(Prober(start: start)), of: id, on: index)
      // The other records are announced again, so other hosts need not drop them (RFC 6762 §8.4).
      goodbyes.add(old.filter { $0.isObsolete(on: link) }, on: link.index)
    }
    links[index].restart(link)
    send(goodbyes)
    for id in ids where claims[id]?.isUnique ?? false {
      set(.announcing(next: now), of: id, on: index)
    }
    handleTimeout(at: now)
  }

  /// Removes a link and ends all claims on the link.
  package mutating func removeLink(_ link: UInt32, at now: Instant) {
    guard let index = index(of: link) else { return }
    links.remove(at: index)
    for id in claims.keys {
      claims[id]?.set(nil, on: link)
      claims[id]?.dependents[link] = nil
    }
    for id in serviceIDs { reportIfPublished(id) }
  }

  /// Returns the time of the first probe for a new name. Names added until this time share it, so
  /// that they are probed together.
  mutating func nextProbeStart(at now: Instant) -> Instant {
    if probeStart <= now || now.advanced(by: Prober.startDelay.upperBound) < probeStart {
      probeStart = now.advanced(by: generator.duration(in: Prober.startDelay))
    }
    return probeStart
  }
}

// MARK: - Claims

extension Responder {
  /// Starts claiming a service's name on a link, along with its host's name unless that is already
  /// claimed there.
  mutating func beginClaim(
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
        isUnique ? .announcing(next: now) : .probing(Prober(start: start)), of: id, on: index)
    }
  }

  /// Ends the claim of a service's name on a link, and the claim of its host's name when no other
  /// service refers to the host.
  mutating func endClaim(_ id: PublicationID, on link: UInt32, _ goodbyes: inout Goodbyes) {
    guard let index = index(of: link), let host = claims[id]?.host else { return }
    goodbyes.add(set(nil, of: id, on: index), on: link)
    let left = (claims[host]?.dependents[link] ?? 1) - 1
    claims[host]?.dependents[link] = left > 0 ? left : nil
    if left <= 0 { goodbyes.add(set(nil, of: host, on: index), on: link) }
  }

  /// Sets the state of a claim on a link, and updates the link's records and the timers. For a name
  /// that becomes claimed, `state` must be `announcing`, which adds the claim's records to the
  /// link. Returns the records that are no longer published.
  @discardableResult
  mutating func set(
    _ state: Claim.Progress?, of id: PublicationID, on index: Int
  ) -> [OwnedRecord] {
    let link = links[index].link
    guard let old = claims[id] else { return [] }
    claims[id]?.set(state, on: link.index)
    if let next = state?.nextTimeout { arm(id, on: link.index, at: next) }
    switch (old.isOwned(on: link.index), state) {
    case (false, .announcing(let next)):
      links[index].owned.insert(old.records(on: link), announcedAt: next)
      return []
    case (true, .probing), (true, nil): return links[index].owned.remove(old.records(on: link))
    case (true, .announcing), (true, .announced), (false, _): return []
    }
  }

  mutating func arm(_ id: PublicationID, on link: UInt32, at moment: Instant) {
    timers.insert(.claim(id, link: link), at: moment)
  }

  /// Remembers a claim's unique records before they are replaced, since a delayed echo of them is
  /// not a conflict.
  mutating func recordReplaced(_ id: PublicationID, at now: Instant) {
    guard let claim = claims[id] else { return }
    if replacedRecords.count >= Self.echoLimit {
      replacedRecords = replacedRecords.filter { $0.value >= now }
    }
    for link in links {
      for owned in claim.records(on: link.link)
      where owned.role == .unique && replacedRecords.count < Self.echoLimit {
        replacedRecords[owned.record.identity] = now.advanced(by: Self.echoLife)
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

/// The goodbye records to send on each link: records that are no longer published, with a time to
/// live of zero (RFC 6762 §10.1).
struct Goodbyes: Sendable {
  private(set) var records: [UInt32: [Record]] = [:]

  /// Adds goodbye records for `owned`. NSEC records need none, because other hosts drop them with
  /// the records that they describe.
  mutating func add(_ owned: [OwnedRecord], on link: UInt32) {
    for owned in owned where owned.role != .denial {
      var record = owned.record
      record.timeToLive = 0
      records[link, default: []].append(record)
    }
  }

  mutating func add(_ other: Goodbyes) { records.merge(other.records, uniquingKeysWith: +) }

  mutating func removeAll(on link: UInt32, where predicate: (Record) -> Bool) {
    records[link]?.removeAll(where: predicate)
  }
}
