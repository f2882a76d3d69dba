import CaromCore

extension MemoryDirectory {
  /// Returns why a claim does not count, or nil if it counts.
  func objection(to claim: MatchClaim) -> DirectoryAnswer? {
    if let entry = matches[claim.match], entry.claim == claim, entry.isHeld { return nil }
    return .superseded(placement(of: claim.match))
  }

  /// Where a match is, if it has a host.
  func placement(of match: MatchID) -> Placement? {
    guard let entry = matches[match], entry.isHeld, let host = hosts[entry.claim.host] else {
      return nil
    }
    return Placement(entry.claim, at: host.record)
  }

  mutating func takeSeat(_ claim: MatchClaim, player: PeerID) -> DirectoryAnswer {
    if let objection = objection(to: claim) { return objection }
    if let index = matches[claim.match]?.seatIndex(of: player) {
      matches[claim.match]?.seats[index].state = .taken
    } else {
      let count = matches[claim.match]?.seats.count ?? 0
      guard let host = hosts[claim.host], host.freeSeats > 0, count < PlacementRules.playerLimit
      else { return .noSeat }
      matches[claim.match]?.seats.append(MatchEntry.Seat(player: player, state: .taken))
      change(claim.host) { $0.seatsInUse += 1 }
    }
    confirm(claim.match)
    return .done
  }

  /// Notes that a player has joined a match under the claim that counts.
  mutating func confirm(_ match: MatchID) {
    guard let claim = matches[match]?.claim else { return }
    if case .held(_?) = matches[match]?.phase {
      change(claim.host) { host in host.unconfirmed.removeAll { $0 == match } }
    }
    matches[match]?.phase = .held(confirmBy: nil)
    matches[match]?.wasPlayed = true
  }

  mutating func releaseSeat(_ claim: MatchClaim, player: PeerID) -> DirectoryAnswer {
    if let objection = objection(to: claim) { return objection }
    if let index = matches[claim.match]?.seatIndex(of: player) {
      removeSeat(index, of: claim.match)
    }
    return .done
  }

  mutating func save(_ claim: MatchClaim, _ checkpoint: Checkpoint) -> DirectoryAnswer {
    if let objection = objection(to: claim) { return objection }
    if let saved = matches[claim.match]?.checkpoint, saved.tick > checkpoint.tick {
      return .outdated
    }
    matches[claim.match]?.checkpoint = checkpoint
    return .done
  }

  mutating func resume(_ claim: MatchClaim) -> DirectoryAnswer {
    if let objection = objection(to: claim) { return objection }
    guard let entry = matches[claim.match] else { return .superseded(nil) }
    return .resumed(entry.checkpoint, players: entry.seats.map(\.player))
  }

  mutating func finish(
    _ claim: MatchClaim, result: [UInt8], at now: Instant
  ) -> DirectoryAnswer {
    if let entry = matches[claim.match], case .finished = entry.phase, entry.claim == claim {
      return .done
    }
    if let objection = objection(to: claim) { return objection }
    vacate(claim.match)
    let end = now + PlacementRules.afterlife
    matches[claim.match]?.seats = []
    matches[claim.match]?.phase = .finished(result: result, until: end)
    matchEnds.insert(claim.match, at: end)
    return .done
  }

  /// Takes a match away from its host.
  mutating func orphan(_ match: MatchID, at now: Instant) {
    vacate(match)
    let end = now + PlacementRules.afterlife
    matches[match]?.phase = .orphaned(until: end)
    for index in matches[match]?.seats.indices ?? 0..<0 {
      matches[match]?.seats[index].state = .waiting
    }
    matchEnds.insert(match, at: end)
  }

  /// Takes back a claim under which no player has joined. A match that nobody ever joined is
  /// forgotten: its players never came, or ask for another placement.
  mutating func endUnconfirmedClaim(of match: MatchID, at now: Instant) {
    guard matches[match]?.wasPlayed == true else {
      vacate(match)
      matches[match] = nil
      return
    }
    orphan(match, at: now)
  }

  /// Gives the seats of a match back to its host, which does not have the match any more.
  mutating func vacate(_ match: MatchID) {
    guard let entry = matches[match], entry.isHeld else { return }
    change(entry.claim.host) { host in
      host.seatsInUse -= entry.seats.count
      host.matches.remove(match)
      host.unconfirmed.removeAll { $0 == match }
    }
  }

  mutating func removeSeat(_ index: Int, of match: MatchID) {
    guard let entry = matches[match] else { return }
    matches[match]?.seats.remove(at: index)
    if entry.isHeld { change(entry.claim.host) { $0.seatsInUse -= 1 } }
  }
}
