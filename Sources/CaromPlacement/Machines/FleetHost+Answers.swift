import CaromCore

extension FleetHost {
  /// Takes the answer to the oldest request on a connection. Answers on a connection that was
  /// given up are ignored.
  package mutating func handle(
    _ answer: DirectoryAnswer, on connection: UInt64, at now: Instant
  ) {
    guard connection == self.connection, let request = outstanding.popFirst() else { return }
    if standing == .leaving {
      // Every other request was sent before the one to withdraw.
      if case .withdraw = request.command { leave(.withdrawn) }
      return
    }
    switch answer {
    case .unknownHost:
      // If the host is registering already, this answers what it said before.
      if case .registered = standing { register(at: now) }
    case .replaced:
      // Another process has registered after the host's lease had ended.
      if case .registered = standing { register(at: now) }
    case .notRegistered(let refusal): handleRefusal(refusal, at: now)
    case .registered(let result): handleRegistration(result, sent: request.sent, at: now)
    case .renewed(let isDraining, let patience, let assigned):
      extendLease(from: request.sent, at: now)
      if isDraining, !self.isDraining || patience != self.patience {
        (self.isDraining, self.patience) = (true, patience)
        events.append(.drainRequested(patience: patience))
      }
      handleAssigned(assigned, at: now)
    case .superseded(let placement):
      if let claim = request.command.claim { lose(claim, to: placement, at: now) }
    default: handle(answer, to: request.command, at: now)
    }
  }

  private mutating func handle(
    _ answer: DirectoryAnswer, to command: HostCommand, at now: Instant
  ) {
    guard let claim = command.claim, let known = matches[claim.match], known.claim == claim else {
      return
    }
    switch (command, answer) {
    case (.takeSeat(_, let player), .noSeat): unseat([player], of: claim)
    case (.resume, .resumed(let checkpoint, let players)) where !known.isResumed:
      matches[claim.match]?.isResumed = true
      matches[claim.match]?.savedTick = checkpoint?.tick
      events.append(.assigned(claim, checkpoint, players: players))
    case (.save(_, let checkpoint), .done): matches[claim.match]?.savedTick = checkpoint.tick
    case (.move, .placed(let placement)):
      matches[claim.match] = nil
      events.append(.lost(claim, to: placement))
    case (.move, .refused(let refusal)):
      matches[claim.match]?.ending = nil
      events.append(.notMoved(claim, refusal))
    case (.finish, .done):
      matches[claim.match] = nil
      finished.insert(claim, at: now)
      events.append(.finished(claim))
    default: break
    }
  }

  private mutating func handleRegistration(
    _ result: RegistrationResult, sent: Instant, at now: Instant
  ) {
    standing = .registered(nextRenewal: now)
    (refusal, refusedSince) = (nil, nil)
    extendLease(from: sent, at: now)
    events.append(.registered)
    for match in result.lost { lose(match.claim, to: match.placement, at: now) }
    for match in result.unseated { unseat(match.players, of: match.claim) }
  }

  /// Stops a match that is another host's, or nobody's. If it has come back to this host under a
  /// newer claim, the host goes on under that one.
  private mutating func lose(_ claim: MatchClaim, to placement: Placement?, at now: Instant) {
    guard let known = matches[claim.match], known.claim == claim else { return }
    if let newer = placement?.claim, newer.host == record.id, newer.number > claim.number {
      matches[claim.match]?.claim = newer
      matches[claim.match]?.forgetSaved()
      if !known.isResumed { send(.resume(newer), at: now) }
      for player in known.players { send(.takeSeat(newer, player: player), at: now) }
      return sendEnding(of: claim.match, at: now)
    }
    matches[claim.match] = nil
    events.append(.lost(claim, to: placement?.claim.host == record.id ? nil : placement))
  }

  private mutating func unseat(_ players: [PeerID], of claim: MatchClaim) {
    guard let known = matches[claim.match], known.claim == claim else { return }
    for player in players where known.players.contains(player) {
      matches[claim.match]?.players.removeAll { $0 == player }
      events.append(.noSeat(claim, player: player))
    }
  }

  /// Extends the lease. The directory counts it from a later moment than the host.
  private mutating func extendLease(from sent: Instant, at now: Instant) {
    let end = sent + PlacementRules.lease
    if now < end { leaseEnd = max(leaseEnd ?? end, end) }
  }

  /// Begins the matches that the directory has given to the host, and ends those that it has taken
  /// back because nobody joined.
  private mutating func handleAssigned(_ assigned: [MatchClaim], at now: Instant) {
    // If there are more claims than fit, the answer does not tell which others there are.
    if assigned.count < PlacementRules.assignmentLimit {
      let claims = Set(assigned)
      for match in matches.keys.sorted() {
        guard let known = matches[match], !known.isConfirmed, !claims.contains(known.claim) else {
          continue
        }
        matches[match] = nil
        events.append(.unclaimed(known.claim))
      }
    }
    for claim in assigned where claim.host == record.id && matches[claim.match] == nil {
      guard matches.count < PlacementRules.matchLimit else { return }
      matches[claim.match] = HostedClaim(claim)
      send(.resume(claim), at: now)
    }
  }

  /// Notes that the directory does not let the host in: the host asks again, and leaves if the
  /// reason stays.
  private mutating func handleRefusal(_ refusal: RegistrationRefusal, at now: Instant) {
    if leaseEnd != nil { events.append(.leaseEnded) }
    leaseEnd = nil
    if refusal != self.refusal { events.append(.refused(refusal)) }
    self.refusal = refusal
    let since = refusedSince ?? now
    refusedSince = since
    guard now < since + Self.refusalLimit else { return leave(.gaveUp(refusal)) }
    standing = .refused(retryAt: now + Self.retryInterval)
  }
}
