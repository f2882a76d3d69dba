import CaromCore

extension MemoryDirectory {
  mutating func place(_ request: PlacementRequest, at now: Instant) -> DirectoryAnswer {
    if let key = request.key, !keys.keys.allSatisfy({ $0.contains(key) }) {
      return .refused(.otherKey)
    }
    guard matches[request.match] == nil else {
      guard matches[request.match]?.game == request.game else { return .refused(.otherVersion) }
      return addPlayers(request.players, to: request.match, at: now)
    }
    switch chooseHost(request.game, near: request.regions, seats: request.players.count) {
    case .failure(let refusal): return .refused(refusal)
    case .success(let host):
      let number = MatchClaim.number(after: 0, at: now)
      matches[request.match] = MatchEntry(
        claim: MatchClaim(request.match, host: host, number: number), game: request.game,
        regions: request.regions, phase: .held(confirmBy: now),
        seats: request.players.map { MatchEntry.Seat(player: $0, state: .waiting) })
      return assign(request.match, to: host, number: number, at: now)
    }
  }

  mutating func locate(_ match: MatchID, player: PeerID, at now: Instant) -> DirectoryAnswer {
    guard let entry = matches[match] else { return .refused(.unknownMatch) }
    if case .finished(let result, _) = entry.phase { return .over(result: result) }
    return addPlayers([player], to: match, at: now)
  }

  /// Finds another host for a match of a host that wants to get rid of it.
  mutating func move(
    _ claim: MatchClaim, _ checkpoint: Checkpoint?, at now: Instant
  ) -> DirectoryAnswer {
    if let objection = objection(to: claim) { return objection }
    guard let entry = matches[claim.match] else { return .superseded(nil) }
    let chosen = chooseHost(
      entry.game, near: entry.regions, orElsewhere: true, seats: entry.seats.count,
      except: claim.host)
    switch chosen {
    case .failure(let refusal): return .refused(refusal)
    case .success(let host):
      if let checkpoint { _ = save(claim, checkpoint) }
      vacate(claim.match)
      let number = MatchClaim.number(after: claim.number, at: now)
      return assign(claim.match, to: host, number: number, at: now)
    }
  }

  /// Reserves seats for more players of a match, or again for the same ones. A match without a host
  /// gets one.
  private mutating func addPlayers(
    _ players: [PeerID], to match: MatchID, at now: Instant
  ) -> DirectoryAnswer {
    guard let entry = matches[match] else { return .refused(.unknownMatch) }
    let added = players.filter { entry.seatIndex(of: $0) == nil }
    guard entry.seats.count + added.count <= PlacementRules.playerLimit else {
      return .refused(.tooManyPlayers)
    }
    switch entry.phase {
    case .finished: return .refused(.matchIsOver)
    case .orphaned:
      let seats = entry.seats.count + added.count
      switch chooseHost(entry.game, near: entry.regions, orElsewhere: true, seats: seats) {
      case .failure(let refusal): return .refused(refusal)
      case .success(let host):
        matches[match]?.seats += added.map { MatchEntry.Seat(player: $0, state: .waiting) }
        let number = MatchClaim.number(after: entry.claim.number, at: now)
        return assign(match, to: host, number: number, at: now)
      }
    case .held(let confirmBy):
      guard let host = hosts[entry.claim.host], host.freeSeats >= added.count else {
        return .refused(.noRoom)
      }
      if confirmBy != nil { setConfirmBy(match, at: now) }
      matches[match]?.seats += added.map { MatchEntry.Seat(player: $0, state: .waiting) }
      change(entry.claim.host) { $0.seatsInUse += added.count }
      for player in players { reserve(player, in: match, at: now) }
      return .placed(Placement(entry.claim, at: host.record))
    }
  }

  /// Gives a match without a host to a host that has room for it.
  private mutating func assign(
    _ match: MatchID, to host: PeerID, number: UInt64, at now: Instant
  ) -> DirectoryAnswer {
    guard let record = hosts[host]?.record, let players = matches[match]?.seats.map(\.player)
    else { return .refused(.noRoom) }
    let claim = MatchClaim(match, host: host, number: number)
    matches[match]?.claim = claim
    matches[match]?.seats = players.map { MatchEntry.Seat(player: $0, state: .waiting) }
    setConfirmBy(match, at: now)
    change(host) { host in
      host.seatsInUse += players.count
      host.matches.insert(match)
      host.unconfirmed.append(match)
    }
    for player in players { reserve(player, in: match, at: now) }
    return .placed(Placement(claim, at: record))
  }

  private mutating func setConfirmBy(_ match: MatchID, at now: Instant) {
    let end = now + PlacementRules.reservation
    matches[match]?.phase = .held(confirmBy: end)
    claimEnds.insert(match, at: end)
  }

  /// Reserves the seat of a player, who must have one, unless the player has taken it.
  private mutating func reserve(_ player: PeerID, in match: MatchID, at now: Instant) {
    guard let index = matches[match]?.seatIndex(of: player),
      matches[match]?.seats[index].state != .taken
    else { return }
    let end = now + PlacementRules.reservation
    matches[match]?.seats[index].state = .reserved(until: end)
    seatEnds.insert(SeatKey(match: match, player: player), at: end)
  }

  /// Returns the host with the lowest rank that has enough free seats. Regions are tried in their
  /// order; if none has room, all regions are, if `orElsewhere`.
  private func chooseHost(
    _ game: GameVersion, near regions: [String], orElsewhere: Bool = false, seats: Int,
    except excluded: PeerID? = nil
  ) -> Result<PeerID, PlacementRefusal> {
    guard versions[game] != nil else { return .failure(.noSuchVersion) }
    for region in regions.isEmpty || orElsewhere ? regions + [""] : regions {
      let host = pools[HostPool(game: game, region: region)]?.first { id in
        guard id != excluded, let host = hosts[id] else { return false }
        return host.freeSeats >= seats && host.matches.count < PlacementRules.matchLimit
      }
      if let host { return .success(host) }
    }
    return .failure(.noRoom)
  }
}
