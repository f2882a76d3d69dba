import CaromCore

// What a leader does.
extension Replica {
  /// Settles, commits, sends and publishes what can be.
  mutating func lead(at now: Instant) {
    settle(at: now)
    commit()
    for member in members.ids { sendEntries(to: member, at: now) }
    requestSnapshot(at: now)
    publishRoster(at: now)
  }

  private mutating func updateLeadership(_ change: (inout Leadership) -> Void) {
    guard case .leading(var leadership) = role else { return }
    change(&leadership)
    role = .leading(leadership)
  }

  /// Settles once the rest of the group that has lost its leader follows this side, or has had the
  /// time to do so.
  private mutating func settle(at now: Instant) {
    guard case .leading(let leadership) = role, !leadership.isSettled else { return }
    if now < leadership.since + options.meetingLimit, !unmet.isEmpty { return }
    if now < leadership.since + options.settleLimit {
      // In most cases, the peer that was missing last time is still missing.
      if let awaited = leadership.awaited, isAwaited(awaited) { return }
      let awaited = remainder.first(where: isAwaited)
      updateLeadership { $0.awaited = awaited }
      if awaited != nil { return }
    }
    updateLeadership { $0.isSettled = true }
    vouch(at: now)
  }

  /// The time until which the leader waits for the rest of the group, or nil if it does not.
  func settlingDue(_ leadership: Leadership) -> Instant? {
    if leadership.isSettled { return nil }
    let isMeeting = !unmet.isEmpty && leadership.awaited == nil
    return leadership.since + (isMeeting ? options.meetingLimit : options.settleLimit)
  }

  private func isAwaited(_ peer: PeerID) -> Bool {
    members[peer] == nil && peers[peer]?.isPresent == true
  }

  // MARK: Members

  mutating func handleJoin(_ request: JoinRequest, from peer: PeerID, at now: Instant) -> Bool {
    if case .following(let following) = role {
      guard following.leader == peer else {
        send(.refuse(leader: following.leader), to: peer)
        return true
      }
      // The leader hands the group over.
      send(.leave(membership: following.membership), to: peer)
      becomeLeader(at: now)
    }
    if ask?.leader == peer {
      // Both ask each other: the one with the lower id leads.
      guard local.id < peer else { return true }
      ask = nil
    }
    admit(peer, request, at: now)
    return true
  }

  private mutating func admit(_ peer: PeerID, _ request: JoinRequest, at now: Instant) {
    endMembership(of: peer, at: now)
    // A claim raises the version a little at most, so that it never runs out.
    rosterVersion = max(rosterVersion, min(request.rosterVersion, rosterVersion + 65_536))
    lastMembership &+= 1
    let start: Welcome.Start =
      log.contains(request.position)
      ? .afterPosition : log.base == .zero ? .atBeginning : .afterSnapshot
    let last = start == .afterPosition ? request.position.index : 0
    let source = EventSource(peer: peer, incarnation: request.incarnation)
    members[peer] = Member(
      membership: lastMembership, source: source,
      stage: start == .afterSnapshot ? .waiting : .streaming, heardAt: now,
      target: log.appliedIndex, next: last + 1, acknowledged: last, mark: last, markedAt: now,
      chargedAt: now)
    let welcome = Welcome(
      membership: lastMembership, request: request.number, start: start,
      lastSequence: log.tailTable.last(of: source))
    send(.welcome(welcome), to: peer)
    updateLeadership { $0.isRosterStale = true }
  }

  /// Forgets a member, which knows of it or will not hear of it.
  mutating func endMembership(of peer: PeerID, at now: Instant) {
    guard members[peer] != nil else { return }
    _ = chargeHoldUp(by: peer, at: now)
    members[peer] = nil
    peers[peer]?.widerSince = nil
    updateLeadership { $0.isRosterStale = true }
  }

  /// Tells a member that this side does not lead it any more.
  mutating func dismiss(_ peer: PeerID, at now: Instant) {
    guard let member = members[peer] else { return }
    send(.remove(membership: member.membership), to: peer)
    endMembership(of: peer, at: now)
  }

  /// Removes the members that are silent, and those that have held up the others for too long
  /// because they acknowledge what they were sent too late. The latter can join again, but entries
  /// do not wait for them until their suspension is over.
  mutating func removeSilentMembers(at now: Instant) {
    for peer in members.ids {
      guard let member = members[peer] else { continue }
      let isLate = member.markedAt + options.lagLimit <= now
      if member.heardAt + options.silenceLimit <= now {
        peers[peer]?.isSuspect = true
        dismiss(peer, at: now)
      } else if case .transferring = member.stage {
        // It does not read the snapshot, which takes memory.
        if member.markedAt + options.acknowledgementLimit <= now { dismiss(peer, at: now) }
      } else if isLate, chargeHoldUp(by: peer, at: now) {
        dismiss(peer, at: now)
      } else if member.stage == .streaming {
        letVote(peer, at: now)
      }
    }
  }

  /// Lets entries wait for a member from now on if it has caught up and is not suspended.
  private mutating func letVote(_ peer: PeerID, at now: Instant) {
    guard var member = members[peer], !member.isVoting, member.hasAnswered else { return }
    if member.acknowledged >= member.target, mayVote(peer, at: now) {
      member.isVoting = true
      member.moveMark(at: now)
    } else if !mayVote(peer, at: now) {
      // What is committed without the member meanwhile, it must have before it counts.
      member.target = log.appliedIndex
    }
    members[peer] = member
  }

  // MARK: The log

  mutating func append(_ event: SubmittedEvent, voucher: PeerID) {
    guard case .leading(let leadership) = role else { return }
    let entry = LedgerEntry(
      index: log.tailIndex + 1, source: event.source, sequence: event.sequence,
      voucher: voucher, bytes: event.bytes, term: leadership.term)
    log.append(entry)
    openEvents.add(entry)
    vouched.remove(event.source, upTo: event.sequence)
  }

  /// Applies the entries that every member has acknowledged that has caught up. While this side
  /// asks another leader to admit it, it applies nothing, because its request says what it has
  /// applied.
  private mutating func commit() {
    guard case .leading(let leadership) = role, leadership.isSettled, ask == nil else { return }
    var limit = log.tailIndex
    for peer in members.ids {
      if let member = members[peer], member.isVoting { limit = min(limit, member.acknowledged) }
    }
    while let entry = log.applyNext(upTo: limit) {
      openEvents.remove(entry)
      emit(.applied(entry))
    }
  }

  /// Sends a member the entries for which its window has room, and the index of the last committed
  /// one.
  private mutating func sendEntries(to peer: PeerID, at now: Instant) {
    guard var member = members[peer], member.stage == .streaming else { return }
    guard member.next > log.base.index else { return dismiss(peer, at: now) }
    let committed = log.appliedIndex
    let limit = min(
      log.tailIndex, member.acknowledged + Member.window, committed + Self.openWindow)
    repeat {
      var entries: [LedgerEntry] = []
      var cost = 0
      while member.next + UInt64(entries.count) <= limit, cost < 65_536,
        let entry = log[member.next + UInt64(entries.count)]
      {
        entries.append(entry)
        cost += entry.cost
      }
      guard !entries.isEmpty || member.notified < committed else { break }
      send(
        .append(
          membership: member.membership, first: member.next, committed: committed, entries),
        to: peer)
      member.next += UInt64(entries.count)
      member.notified = committed
    } while member.next <= limit
    if member.mark <= member.acknowledged, member.next - 1 > member.mark {
      member.moveMark(at: now)
    }
    members[peer] = member
  }

  mutating func handleAcknowledgement(
    of index: UInt64, from peer: PeerID, _ membership: UInt32, at now: Instant
  ) -> Bool {
    guard var member = members[peer], member.membership == membership else { return true }
    // A member that still receives the state has nothing to acknowledge.
    guard member.stage == .streaming, index >= member.acknowledged, index < member.next else {
      return false
    }
    member.acknowledged = index
    if index >= member.mark { member.moveMark(at: now) }
    let isFirst = !member.hasAnswered
    member.hasAnswered = true
    members[peer] = member
    letVote(peer, at: now)
    if isFirst, case .leading(let leadership) = role, !leadership.isRosterStale, let roster {
      send(.roster(roster), to: peer)
    }
    return true
  }

  // MARK: The roster

  func rosterDue(_ leadership: Leadership) -> Instant? {
    guard leadership.isRosterStale, leadership.isSettled, ask == nil else { return nil }
    return (leadership.lastRoster ?? leadership.since) + options.rosterInterval
  }

  mutating func setRoster(_ roster: Roster) {
    self.roster = roster
    unmet = Set(roster.members.map(\.id).filter { $0 != local.id && peers[$0] == nil })
    emit(.roster(roster))
  }

  private mutating func publishRoster(at now: Instant) {
    guard case .leading(let leadership) = role, leadership.isRosterStale, leadership.isSettled,
      ask == nil
    else { return }
    if let last = leadership.lastRoster, now < last + options.rosterInterval { return }
    var list = [local]
    for peer in members.ids {
      guard let member = members[peer] else { continue }
      list.append(
        RosterMember(
          id: peer, name: peers[peer]?.name ?? "", incarnation: member.source.incarnation))
    }
    list.sort { $0.id < $1.id }
    rosterVersion += 1
    let roster = Roster(version: rosterVersion, leader: local.id, members: list)
    setRoster(roster)
    updateLeadership {
      $0.isRosterStale = false
      $0.lastRoster = now
    }
    for peer in members.ids where members[peer]?.hasAnswered == true {
      send(.roster(roster), to: peer)
    }
  }
}

// MARK: - Snapshots
extension Replica {
  /// Asks the application for a snapshot if a member waits for one, but not too often.
  private mutating func requestSnapshot(at now: Instant) {
    guard requested == nil, hasWaitingMembers else { return }
    if let next = nextSnapshotAt, now < next { return }
    nextSnapshotAt = now + options.snapshotInterval
    lastSnapshotNumber &+= 1
    requested = RequestedSnapshot(
      number: lastSnapshotNumber, position: log.applied, table: log.appliedTable)
    emit(.snapshotNeeded(lastSnapshotNumber))
  }

  private var hasWaitingMembers: Bool { members.ids.contains { members[$0]?.stage == .waiting } }

  /// The time at which the application has to be asked for a snapshot, or nil if it need not be.
  var snapshotDue: Instant? { requested == nil && hasWaitingMembers ? nextSnapshotAt : nil }

  /// Says that the snapshot that was asked for with this number would be too long: the members that
  /// wait for it are told so and removed.
  package mutating func refuseSnapshot(_ number: UInt32, at now: Instant) {
    guard let requested, requested.number == number else { return }
    self.requested = nil
    for peer in members.ids {
      guard let member = members[peer], member.stage == .waiting else { continue }
      send(.withhold(membership: member.membership), to: peer)
      endMembership(of: peer, at: now)
    }
    advance(at: now)
  }

  /// Provides the snapshot that was asked for with this number: the application's state after the
  /// entry that was the last applied one then. At most 16 MiB. Ignored if it is not needed any
  /// more.
  package mutating func provideSnapshot(_ number: UInt32, _ bytes: [UInt8], at now: Instant) {
    precondition(bytes.count <= Self.snapshotLimit, "a snapshot has at most 16 MiB")
    guard let requested, requested.number == number else { return }
    self.requested = nil
    let length = Double(bytes.count) / Double(4 << 20)
    nextSnapshotAt = now + options.snapshotInterval * (1 + length)
    guard requested.position.index >= log.base.index else { return advance(at: now) }
    let snapshot = OutgoingSnapshot(
      position: requested.position, bytes: requested.table.encoded + bytes)
    for peer in members.ids {
      guard var member = members[peer], member.stage == .waiting else { continue }
      member.stage = .transferring(snapshot)
      member.next = requested.position.index + 1
      member.markedAt = now
      members[peer] = member
      send(
        .snapshot(
          membership: member.membership, requested.position,
          length: UInt64(snapshot.bytes.count)), to: peer)
      sendParts(to: peer, at: now)
    }
    advance(at: now)
  }

  private mutating func sendParts(to peer: PeerID, at now: Instant) {
    guard let member = members[peer], case .transferring(var snapshot) = member.stage else {
      return
    }
    while snapshot.sent < min(snapshot.bytes.count, snapshot.received + OutgoingSnapshot.window) {
      let end = min(snapshot.sent + LedgerMessage.partLimit, snapshot.bytes.count)
      let part = Array(snapshot.bytes[snapshot.sent..<end])
      send(.part(membership: member.membership, part), to: peer)
      snapshot.sent = end
    }
    let isComplete = snapshot.received == snapshot.bytes.count
    members[peer]?.stage = isComplete ? .streaming : .transferring(snapshot)
    if isComplete {
      members[peer]?.acknowledged = snapshot.position.index
      members[peer]?.moveMark(at: now)
      members[peer]?.target = log.appliedIndex
    }
  }

  mutating func handleReceived(
    _ length: UInt64, from peer: PeerID, _ membership: UInt32, at now: Instant
  ) -> Bool {
    guard let member = members[peer], member.membership == membership else { return true }
    guard case .transferring(var snapshot) = member.stage, length > snapshot.received,
      length <= snapshot.sent
    else { return false }
    snapshot.received = Int(length)
    members[peer]?.stage = .transferring(snapshot)
    members[peer]?.markedAt = now
    sendParts(to: peer, at: now)
    return true
  }
}
