import CaromCore

extension Responder {
  /// Examines a response for records that conflict with this host's records (RFC 6762 §8.1, §9),
  /// that make one of this host's answers redundant (§7.4), or that this host must correct (§6.6).
  package mutating func handleResponse(
    _ response: Message, from datagram: Datagram, at now: Instant
  ) {
    guard let index = index(of: datagram.interface) else { return }
    let isMulticast = datagram.destination.address.isMulticast
    guard isMulticast || links[index].link.isOnLink(datagram.source.address) else {
      counters.offLink += 1
      return
    }
    let isOwnHost = links.contains { $0.link.hasAddress(datagram.source.address) }
    for records in [response.answers, response.additionals] {
      for record in records where record.recordClass == Record.internet {
        if isMulticast { compareWithOwned(record, on: index, at: now) }
        guard record.timeToLive > 0, record.type != .nsec, let id = names[record.name] else {
          continue
        }
        // Processes on one host share the host's name, and may learn of its addresses at different
        // times.
        if isOwnHost, id <= .uniqueHost { continue }
        handleConflict(id, by: record, on: links[index].link.index, at: now)
      }
    }
  }

  /// Handles another host's copy of one of this host's records. If the copy's time to live is at
  /// least that of the record, the copy counts as this host's answer (RFC 6762 §7.4). If it is less
  /// than half of the record's, a correction is scheduled (§6.6).
  private mutating func compareWithOwned(_ record: Record, on index: Int, at now: Instant) {
    guard let slot = links[index].owned.slot(of: record.identity),
      let ours = links[index].owned[slot]
    else { return }
    let life = ours.record.timeToLive
    if record.timeToLive >= life, ours.batch != nil {
      // A unique set is sent whole, and the other host may have sent only a part of it.
      if links[index].set(of: slot).count == 1 { links[index].owned.markSent(slot, at: now) }
    } else if record.timeToLive < life / 2, ours.batch == nil {
      let due = now.advanced(by: generator.duration(in: Self.sharedDelay))
      links[index].schedule(links[index].set(of: slot), at: due, isDefence: false)
    }
  }

  private mutating func handleConflict(
    _ id: PublicationID, by record: Record, on link: UInt32, at now: Instant
  ) {
    guard let claim = claims[id], let state = claim.state(on: link),
      !isOwnRecord(record, claim, at: now)
    else { return }
    switch state {
    case .probing(let prober):
      if prober.hasAsked { renameAfterConflict(id, at: now) }
    case .announcing, .announced:
      guard claim.hasRecord(of: record.type, on: links.map(\.link)) else { return }
      probeAgain(id, on: link, at: now)
    }
  }

  /// Returns whether the record carries this host's own data and is therefore not a conflict (RFC
  /// 6762 §9). It may be the echo of this process's own packet, come from another process or
  /// interface of this host, or carry data that was replaced a moment ago.
  private func isOwnRecord(_ record: Record, _ claim: Claim, at now: Instant) -> Bool {
    if claim.hasRecord(with: record.data, on: links.map(\.link)) { return true }
    return replacedRecords[record.identity].map { $0 >= now } ?? false
  }

  /// Probes again for a claimed name after a conflicting record has been received.
  private mutating func probeAgain(_ id: PublicationID, on link: UInt32, at now: Instant) {
    guard let index = index(of: link) else { return }
    guard let start = claims[id]?.conflicts.record(at: now) else { return giveUp(id, at: now) }
    set(.probing(Prober(start: start)), of: id, on: index)
  }

  /// Gives a claim the next free name on every link, because another host has its current name.
  private mutating func renameAfterConflict(_ id: PublicationID, at now: Instant) {
    guard let claim = claims[id] else { return }
    if let service = claim.service, !service.renames { return fail([id], .nameTaken, at: now) }
    guard let allowed = claims[id]?.conflicts.record(at: now) else { return giveUp(id, at: now) }
    let choice = claims[id]?.conflicts.recordLoss() ?? 1
    let step = Int.random(in: 1...choice, using: &generator)
    let start = max(allowed, nextProbeStart(at: now))
    changeLabel(id, to: freeLabel(after: claim.label, by: step, for: claim), start: start, at: now)
    if claim.isUnique { probeEverywhere(id, start: start) }
    guard claim.host == nil else { return }
    let target = name(of: id)
    for service in serviceIDs where claims[service]?.host == id {
      replace(service, announcedAt: now, at: now) { $0.rename(to: $0.label, target: target) }
    }
    if id == .host { emit(.hostRenamed(claims[id]?.label ?? claim.label)) }
    handleTimeout(at: now)
  }

  /// Starts probing on every link for the new name of a claim whose old name was wrongly believed
  /// to be unique.
  private mutating func probeEverywhere(_ id: PublicationID, start: Instant) {
    for index in links.indices where claims[id]?.state(on: links[index].link.index) != nil {
      set(.probing(Prober(start: start)), of: id, on: index)
    }
  }

  /// Ends the publication `id`, for which no free name was found. If `id` is the claim to a host
  /// name, ends all publications that use this host name.
  private mutating func giveUp(_ id: PublicationID, at now: Instant) {
    guard id <= .uniqueHost else { return fail([id], .noFreeName, at: now) }
    fail(serviceIDs.filter { claims[$0]?.host == id }, .noFreeHostName, at: now)
  }

  private mutating func fail(
    _ lost: [PublicationID], _ error: PublicationError, at now: Instant
  ) {
    withdraw(lost, at: now)
    for id in lost { emit(.failed(id, error)) }
  }

  /// Performs the simultaneous-probe tiebreak for names that this host is probing for as well (RFC
  /// 6762 §8.2).
  mutating func compareProbes(_ query: Message, on index: Int, at now: Instant) {
    let link = links[index].link
    let proposals = Dictionary(grouping: query.authorities, by: \.name)
    var seen: Set<Name> = []
    for name in query.authorities.map(\.name) where seen.insert(name).inserted {
      guard let theirs = proposals[name], let id = names[name], let claim = claims[id],
        case .probing(var prober) = claim.state(on: link.index), prober.isProbing,
        !theirs.allSatisfy({ isOwnRecord($0, claim, at: now) }),
        Prober.tiebreak(claim.proposals(on: link), theirs) == .lost
      else { continue }
      guard claims[id]?.conflicts.recordLostTiebreak(at: now) ?? false else {
        giveUp(id, at: now)
        continue
      }
      // The losers of one tiebreak must not all probe again at the same time (RFC 6762 §8.1).
      let delay = Prober.deferral + generator.duration(in: Prober.startDelay)
      prober.yield(until: now.advanced(by: delay))
      set(.probing(prober), of: id, on: index)
    }
  }
}
