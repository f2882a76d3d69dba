import CaromCore

// The peers that have joined, their messages, and time.
extension Replica {
  /// A peer has joined. `name` is its display name.
  package mutating func handleJoined(_ peer: PeerID, name: String, at now: Instant) {
    guard peer != local.id else { return }
    if peers[peer] != nil { forget(peer, at: now) }
    peers[peer] = PeerRecord(name: name)
    unmet.remove(peer)
    if heartbeatAt == nil { heartbeatAt = now + options.heartbeatInterval }
    send(.ballot(ballot), to: peer)
    advance(at: now)
  }

  /// A peer that had joined has left.
  package mutating func handleLeft(_ peer: PeerID, at now: Instant) {
    guard peers[peer] != nil else { return }
    forget(peer, at: now)
    reconsider(at: now)
    advance(at: now)
  }

  /// No link carries the connection to a peer at present.
  package mutating func handleInterrupted(_ peer: PeerID, at now: Instant) {
    peers[peer]?.isInterrupted = true
    advance(at: now)
  }

  /// The connection to a peer works again.
  package mutating func handleResumed(_ peer: PeerID, at now: Instant) {
    peers[peer]?.isInterrupted = false
    reconsider(at: now)
    advance(at: now)
  }

  private mutating func forget(_ peer: PeerID, at now: Instant) {
    setBallot(nil, of: peer)
    peers[peer] = nil
    handleEnd(of: peer, at: now)
  }

  /// Handles a message of a peer. Returns false if the peer has violated the protocol, so that its
  /// connection must be closed.
  package mutating func receive(
    _ message: ReplicaMessage, from peer: PeerID, at now: Instant
  ) -> Bool {
    guard peers[peer] != nil else { return true }
    noteAlive(peer, at: now)
    let isAllowed =
      switch message {
      case .ballot(let ballot): handle(ballot, from: peer, at: now)
      case .roster(let roster): handle(roster, from: peer)
      case .ledger(let message): handle(message, from: peer, at: now)
      }
    reconsider(at: now)
    advance(at: now)
    return isAllowed
  }

  private mutating func noteAlive(_ peer: PeerID, at now: Instant) {
    if peers[peer]?.isSuspect == true { peers[peer]?.isSuspect = false }
    if members[peer] != nil { members[peer]?.heardAt = now }
    if case .following(var following) = role, following.leader == peer {
      following.heardAt = now
      role = .following(following)
    }
  }

  private mutating func handle(
    _ message: LedgerMessage, from peer: PeerID, at now: Instant
  ) -> Bool {
    switch message {
    case .join(let request): return handleJoin(request, from: peer, at: now)
    case .acknowledge(let membership, let index):
      return handleAcknowledgement(of: index, from: peer, membership, at: now)
    case .submit(let membership, let isComplete, let events):
      return handleSubmission(events, isComplete: isComplete, from: peer, membership)
    case .received(let membership, let length):
      return handleReceived(length, from: peer, membership, at: now)
    case .leave(let membership):
      if members[peer]?.membership == membership { endMembership(of: peer, at: now) }
      return true
    case .welcome(let welcome): return handleWelcome(welcome, from: peer, at: now)
    case .refuse(let leader):
      handleRefusal(by: peer, leader, at: now)
      return true
    case .append(let membership, let first, let committed, let entries):
      guard isFollowing(peer, membership) else { return true }
      return handleAppend(entries, from: first, committed: committed)
    case .snapshot(let membership, let position, let length):
      guard isFollowing(peer, membership) else { return true }
      return handleSnapshot(at: position, length: length)
    case .part(let membership, let bytes):
      guard isFollowing(peer, membership) else { return true }
      return handlePart(bytes)
    case .remove(let membership):
      guard isFollowing(peer, membership) else { return true }
      noteRefusal(by: peer, at: now)
      becomeLeader(at: now)
      return true
    case .withhold(let membership):
      guard isFollowing(peer, membership) else { return true }
      distrust(peer, at: now)
      becomeLeader(at: now)
      emit(.stateUnavailable(peer))
      return true
    }
  }

  func isFollowing(_ peer: PeerID, _ membership: UInt32) -> Bool {
    guard case .following(let following) = role else { return false }
    return following.leader == peer && following.membership == membership
  }
}

// MARK: - Leaving
extension Replica {
  /// Leaves the group, while the peers stay connected. The owner sends what follows from this and
  /// then releases the replica.
  package mutating func leave(at now: Instant) {
    switch role {
    case .leading:
      for member in members.ids { dismiss(member, at: now) }
    case .following(let following):
      send(.leave(membership: following.membership), to: following.leader)
    }
    var ballot = ballot
    ballot.leader = Ballot.nobody
    for peer in peers.ids { send(.ballot(ballot), to: peer) }
  }
}

// MARK: - Time
extension Replica {
  /// The next time at which `handleTimeout` must be called, or nil if nothing is due.
  package var nextTimeout: Instant? {
    let due = earliest(heartbeatAt, ask?.deadline)
    switch role {
    case .leading(let leadership):
      return earliest(
        earliest(due, settlingDue(leadership)), earliest(rosterDue(leadership), snapshotDue))
    case .following(let following):
      return earliest(due, following.heardAt + options.silenceLimit)
    }
  }

  /// Does what is due at `now`.
  package mutating func handleTimeout(at now: Instant) {
    if let ask, ask.deadline <= now {
      self.ask = nil
      peers[ask.leader]?.isSuspect = true
      distrust(ask.leader, at: now)
    }
    if case .following(let following) = role, following.heardAt + options.silenceLimit <= now {
      peers[following.leader]?.isSuspect = true
      noteRefusal(by: following.leader, at: now)
      noteClaim(following.leader, at: now)
      send(.leave(membership: following.membership), to: following.leader)
      becomeLeader(at: now)
    }
    if let due = heartbeatAt, due <= now {
      heartbeatAt = peers.isEmpty ? nil : now + options.heartbeatInterval
      sendHeartbeat(at: now)
    }
    reconsider(at: now)
    advance(at: now)
  }

  private mutating func sendHeartbeat(at now: Instant) {
    switch role {
    case .leading:
      broadcastBallot()
      removeSilentMembers(at: now)
      giveWay(at: now)
    case .following(let following): send(.ballot(ballot), to: following.leader)
    }
    vouch(at: now)
  }
}
