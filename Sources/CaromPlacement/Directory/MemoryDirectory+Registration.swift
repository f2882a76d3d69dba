import CaromCore

extension MemoryDirectory {
  mutating func register(
    _ registration: HostRegistration, from sender: CommandSender, at now: Instant
  ) -> DirectoryAnswer {
    let record = registration.record
    precondition(record.id == sender.host, "a host registers itself")
    if let known = hosts[record.id] {
      guard known.sender.run == sender.run else { return .notRegistered(.identityInUse) }
      // The host has opened another connection since it sent this.
      guard known.sender.connection <= sender.connection else { return .unknownHost }
    }
    guard keys.keys.allSatisfy(registration.keys.agree) else { return .notRegistered(.otherKey) }
    admit(registration, from: sender, at: now)
    var lost: [LostMatch] = []
    var unseated: [HeldMatch] = []
    for held in registration.holding {
      if let others = keep(held, at: record.id, now) {
        if !others.isEmpty { unseated.append(HeldMatch(held.claim, players: others)) }
      } else {
        lost.append(LostMatch(held.claim, to: placement(of: held.claim.match)))
      }
    }
    return .registered(RegistrationResult(lost: lost, unseated: unseated))
  }

  /// Gives a host a lease. What it had and does not hold any more is orphaned.
  private mutating func admit(
    _ registration: HostRegistration, from sender: CommandSender, at now: Instant
  ) {
    let record = registration.record
    let leaseEnd = now + PlacementRules.lease
    leaseEnds.insert(record.id, at: leaseEnd)
    if let known = hosts[record.id], known.record == record, known.keys == registration.keys {
      change(record.id) { entry in
        entry.sender = sender
        entry.leaseEnd = leaseEnd
        entry.isDraining = entry.isDraining || registration.isDraining
      }
      orphanMatches(of: record.id, except: registration.holding, at: now)
    } else {
      remove(record.id, at: now)
      insert(
        HostEntry(
          record, sender: sender, keys: registration.keys, leaseEnd: leaseEnd,
          isDraining: registration.isDraining))
    }
  }

  private mutating func insert(_ entry: HostEntry) {
    hosts[entry.record.id] = entry
    versions[entry.record.game, default: 0] += 1
    keys[entry.keys, default: 0] += 1
    setRank(of: entry.record, from: nil, to: entry.rank)
  }

  /// Orphans the host's matches except those that it holds. A claim that nobody has confirmed may
  /// not have reached the host yet, and stays.
  private mutating func orphanMatches(
    of host: PeerID, except holding: [HeldMatch], at now: Instant
  ) {
    guard let entry = hosts[host] else { return }
    let held = Set(holding.map(\.claim))
    for match in entry.matches.sorted() where !entry.unconfirmed.contains(match) {
      if let claim = matches[match]?.claim, !held.contains(claim) { orphan(match, at: now) }
    }
  }

  /// Lets a returning host go on with a match, unless the match is over, or a claim with a greater
  /// number counts. Returns the players for whom there are no seats, or nil if the host must not go
  /// on.
  private mutating func keep(_ held: HeldMatch, at host: PeerID, _ now: Instant) -> [PeerID]? {
    guard held.claim.host == host, held.players.count <= PlacementRules.playerLimit else {
      return nil
    }
    let known = matches[held.claim.match]?.claim
    switch matches[held.claim.match]?.phase {
    // The host has not heard that its result has arrived.
    case .finished: return known == held.claim ? [] : nil
    case .held where known == held.claim: return reseat(held)
    case .held:
      // Another host has it. A directory that has forgotten everything may have heard of the older
      // of two claims first.
      guard isNewest(held.claim) else { return nil }
      orphan(held.claim.match, at: now)
    case .orphaned: guard isNewest(held.claim) || known == held.claim else { return nil }
    case nil: break
    }
    return adopt(held)
  }

  private func isNewest(_ claim: MatchClaim) -> Bool {
    matches[claim.match].map { $0.claim.number < claim.number } ?? true
  }

  /// Gives a match without a host to the host that holds it, and seats the players. If the host has
  /// too many matches, the match is not given to it.
  private mutating func adopt(_ held: HeldMatch) -> [PeerID]? {
    let id = held.claim.match
    guard let host = hosts[held.claim.host], host.matches.count < PlacementRules.matchLimit else {
      return nil
    }
    var entry =
      matches[id]
      ?? MatchEntry(
        claim: held.claim, game: host.record.game, regions: [host.record.region],
        phase: .held(confirmBy: nil))
    entry.claim = held.claim
    entry.phase = .held(confirmBy: nil)
    entry.seats = []
    matches[id] = entry
    change(held.claim.host) { $0.matches.insert(id) }
    return reseat(held)
  }

  /// Gives the seats of a match to the players whom its host reports, and keeps the reservations of
  /// others. Returns the players for whom no seat is free.
  private mutating func reseat(_ held: HeldMatch) -> [PeerID] {
    let id = held.claim.match
    guard let entry = matches[id], let host = hosts[held.claim.host] else { return [] }
    let players = Set(held.players)
    var seats = entry.seats.filter { $0.state != .taken || players.contains($0.player) }
    for index in seats.indices where players.contains(seats[index].player) {
      seats[index].state = .taken
    }
    let free = min(
      host.freeSeats + entry.seats.count - seats.count, PlacementRules.playerLimit - seats.count)
    let seated = Set(seats.map(\.player))
    let others = held.players.filter { !seated.contains($0) }
    seats += others.prefix(free).map { MatchEntry.Seat(player: $0, state: .taken) }
    matches[id]?.seats = seats
    confirm(id)
    change(held.claim.host) { $0.seatsInUse += seats.count - entry.seats.count }
    return Array(others.dropFirst(free))
  }
}
