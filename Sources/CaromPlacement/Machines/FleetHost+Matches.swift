import CaromCore

extension FleetHost {
  /// Decides about a player who has come with `claim` in a token that the host has checked.
  ///
  /// The answer needs no question to the directory. If the player is accepted, the seat is taken
  /// there afterwards, and in the rare case that it was given away, `noSeat` follows.
  package mutating func admit(
    _ player: PeerID, with claim: MatchClaim, at now: Instant
  ) -> Admission {
    guard claim.host == record.id else { return .otherHost }
    guard isAdmitting(at: now) else { return .tryAgain }
    if let known = matches[claim.match] {
      guard known.claim.number >= claim.number, known.ending == nil else { return .tryAgain }
      if known.players.contains(player) { return .accepted }
    }
    guard playerCount < record.seats else { return .full }
    if matches[claim.match] == nil {
      guard !finished.contains(claim) else { return .tryAgain }
      guard matches.count < PlacementRules.matchLimit, !isDraining else { return .tryAgain }
      matches[claim.match] = HostedClaim(claim)
      send(.resume(claim), at: now)
    }
    matches[claim.match]?.players.append(player)
    matches[claim.match]?.isConfirmed = true
    if let claim = matches[claim.match]?.claim { send(.takeSeat(claim, player: player), at: now) }
    return .accepted
  }

  /// Removes a player who has left a match for good.
  package mutating func remove(_ player: PeerID, from match: MatchID, at now: Instant) {
    guard let known = matches[match], known.players.contains(player) else { return }
    matches[match]?.players.removeAll { $0 == player }
    send(.releaseSeat(known.claim, player: player), at: now)
  }

  /// Sets the checkpoint of a match. It is sent with the next renewal, or at once if `isUrgent`.
  package mutating func save(
    _ checkpoint: Checkpoint, of match: MatchID, isUrgent: Bool = false, at now: Instant
  ) {
    guard matches[match] != nil else { return }
    matches[match]?.setCheckpoint(checkpoint)
    if isUrgent { sendCheckpoint(of: match, at: now) }
  }

  /// Asks for another host for a match. `lost` follows, or `notMoved`. The host does not change
  /// the match from now on, so that nothing happens after the checkpoint.
  package mutating func move(_ match: MatchID, _ checkpoint: Checkpoint?, at now: Instant) {
    guard matches[match]?.ending == nil else { return }
    if let checkpoint { matches[match]?.setCheckpoint(checkpoint) }
    matches[match]?.ending = .moving
    sendEnding(of: match, at: now)
  }

  /// Takes `move` back: the match goes on here, and its checkpoints are sent again. `lost` follows
  /// if the directory has moved it already.
  package mutating func keep(_ match: MatchID) {
    if matches[match]?.ending == .moving { matches[match]?.ending = nil }
  }

  /// Reports that a match is over. `finished` follows, or `lost` if another host has the match.
  package mutating func finish(_ match: MatchID, result: [UInt8], at now: Instant) {
    precondition(
      result.count <= Checkpoint.maximumLength, "a result has at most 8,192 bytes")
    guard matches[match] != nil else { return }
    matches[match]?.ending = .finishing(result: result)
    sendEnding(of: match, at: now)
  }

  /// Lets the host get no more matches.
  package mutating func drain(at now: Instant) {
    isDraining = true
    send(.drain, at: now)
  }

  /// Leaves the fleet. Matches that the host still has are orphans from now on. `withdrawn` follows
  /// when the directory knows of it, or does not answer for a lease.
  package mutating func withdraw(at now: Instant) {
    leaseEnd = nil
    switch standing {
    case .away, .refused: leave(.withdrawn)
    case .registering, .registered:
      send(.withdraw, at: now)
      if case .away = standing { leave(.withdrawn) } else { standing = .leaving }
    case .leaving, .left: break
    }
  }

  mutating func sendCheckpoints(at now: Instant) {
    for match in matches.keys.sorted() { sendCheckpoint(of: match, at: now) }
  }

  private mutating func sendCheckpoint(of match: MatchID, at now: Instant) {
    guard let known = matches[match], let checkpoint = known.checkpoint, !known.isCheckpointSent,
      known.isConfirmed, known.ending == nil
    else { return }
    matches[match]?.isCheckpointSent = true
    send(.save(known.claim, checkpoint), at: now)
  }

  mutating func sendEnding(of match: MatchID, at now: Instant) {
    guard let known = matches[match] else { return }
    switch known.ending {
    case .moving?: send(.move(known.claim, known.checkpoint), at: now)
    case .finishing(let result)?: send(.finish(known.claim, result: result), at: now)
    case nil: break
    }
  }
}
