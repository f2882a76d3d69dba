import CaromCore

// Who leads.
extension Replica {
  /// What this side says about itself.
  var ballot: Ballot {
    let leader =
      switch role {
      case .leading: local.id
      case .following(let following): following.leader
      }
    return Ballot(
      group: group, leader: leader, followers: UInt64(members.count), reach: UInt64(reach),
      length: log.tailIndex, quality: quality)
  }

  /// The number of peers that take part in the group and to which a link works.
  private var reach: Int {
    peers.ids.count { peers[$0]?.takesPart == true }
  }

  mutating func broadcastBallot() {
    let ballot = ballot
    for peer in peers.ids { send(.ballot(ballot), to: peer) }
  }

  mutating func handle(_ ballot: Ballot, from peer: PeerID, at now: Instant) -> Bool {
    var ballot = ballot
    // A member of another group takes no part in this one.
    if ballot.group != group { ballot.leader = Ballot.nobody }
    setBallot(ballot, of: peer)
    if ballot.leader == Ballot.nobody { handleEnd(of: peer, at: now) }
    let isWider = members[peer] != nil && ballot.reach > UInt64(reach)
    let since = peers[peer]?.widerSince
    peers[peer]?.widerSince = isWider ? since ?? now : nil
    return true
  }

  /// A peer takes no part any more, whether or not its connection stays.
  mutating func handleEnd(of peer: PeerID, at now: Instant) {
    if ask?.leader == peer { ask = nil }
    if members[peer] != nil { endMembership(of: peer, at: now) }
    if case .following(let following) = role, following.leader == peer { becomeLeader(at: now) }
  }

  mutating func setBallot(_ ballot: Ballot?, of peer: PeerID) {
    if let old = peers[peer]?.ballot?.leader, old != peer {
      followerCounts[old, default: 1] -= 1
      if followerCounts[old] == 0 { followerCounts[old] = nil }
    }
    peers[peer]?.ballot = ballot
    if let new = ballot?.leader, new != peer { followerCounts[new, default: 0] += 1 }
  }

  /// What makes a leader better than another one.
  private struct Rank {
    let followers: Int
    let length: UInt64
    let id: PeerID

    func isBetter(than other: Rank) -> Bool {
      if followers != other.followers { return followers > other.followers }
      return length != other.length ? length > other.length : id < other.id
    }
  }

  /// Asks the best leader to admit this side, if it is better than this side.
  mutating func reconsider(at now: Instant) {
    guard case .leading = role, ask == nil else { return }
    var best = Rank(followers: members.count, length: log.tailIndex, id: local.id)
    for peer in peers.ids {
      guard let record = peers[peer], let rank = rank(of: peer, record, at: now),
        rank.isBetter(than: best)
      else { continue }
      best = rank
    }
    if best.id != local.id { ask(best.id, at: now) }
  }

  /// The rank of a peer as a leader, or nil if it is none that can be asked.
  ///
  /// With followers of its own, this side believes only those that say so themselves, so that no
  /// peer can win a group over by its claims alone. A side without followers has only itself to
  /// lose, and may not see the others.
  private func rank(of peer: PeerID, _ record: PeerRecord, at now: Instant) -> Rank? {
    // A member's ballot from before it joined may arrive later.
    guard members[peer] == nil, record.isPresent, let ballot = record.ballot,
      ballot.leader == peer
    else { return nil }
    guard isTrusted(peer, at: now) else { return nil }
    let seen = followerCounts[peer] ?? 0
    let followers = members.isEmpty ? max(seen, Int(ballot.followers)) : seen
    return Rank(followers: followers, length: ballot.length, id: peer)
  }

  private mutating func ask(_ leader: PeerID, at now: Instant) {
    lastRequest &+= 1
    ask = Ask(leader: leader, number: lastRequest, deadline: now + options.askLimit)
    let request = JoinRequest(
      number: lastRequest, incarnation: local.incarnation, rosterVersion: rosterVersion,
      position: log.applied)
    send(.join(request), to: leader)
  }

  /// Hands the group over to a member, which admits this side. Returns false if this side does
  /// not lead the peer, or asks another leader to admit it.
  package mutating func handOver(to member: PeerID, at now: Instant) -> Bool {
    guard members[member]?.isVoting == true, ask == nil else { return false }
    ask(member, at: now)
    advance(at: now)
    return true
  }

  /// Hands the group over to a member that has been connected with more peers for a while, so that
  /// the group does not leave out those that only the member can see.
  ///
  /// Only the member itself can know whether this is true. Therefore its claim counts once in a
  /// while: if it is a lie, it costs one election, and the members then no longer listen to it.
  mutating func giveWay(at now: Instant) {
    guard ask == nil else { return }
    var widest: (peer: PeerID, reach: UInt64)?
    for peer in members.ids {
      guard members[peer]?.isVoting == true, let record = peers[peer],
        mayClaimReach(peer, at: now),
        let since = record.widerSince, since + options.reachLimit <= now,
        let reach = record.ballot?.reach, reach > widest?.reach ?? UInt64(self.reach)
      else { continue }
      widest = (peer, reach)
    }
    guard let widest else { return }
    noteClaim(widest.peer, at: now)
    _ = handOver(to: widest.peer, at: now)
  }

  /// The member that would be the best host, from what the members have measured; nil if fewer than
  /// two of them have. Only the leader knows the measurements.
  package var bestHost: PeerID? {
    var best: (peer: PeerID, cost: Double)?
    var count = 0
    for peer in members.ids + [local.id] {
      let quality = peer == local.id ? quality : peers[peer]?.ballot?.quality
      guard let cost = quality?.cost else { continue }
      count += 1
      if let best, (best.cost, best.peer) <= (cost, peer) { continue }
      best = (peer, cost)
    }
    return count < 2 ? nil : best?.peer
  }

  /// Sets what the owner has measured of this side's connections.
  package mutating func setQuality(_ quality: HostQuality?) { self.quality = quality }

  /// Begins to lead, at first itself alone.
  mutating func becomeLeader(at now: Instant) {
    role = .leading(Leadership(term: generator.nextTerm(), since: now))
    incoming = nil
    openEvents = OpenEvents()
    vouching = Vouching()
    appendOwnEvents()
    broadcastBallot()
  }
}

// MARK: - Joining another group
extension Replica {
  mutating func handleRefusal(by peer: PeerID, _ leader: PeerID, at now: Instant) {
    guard ask?.leader == peer else { return }
    ask = nil
    noteRefusal(by: peer, at: now)
    guard var ballot = peers[peer]?.ballot, leader != peer else { return }
    ballot.leader = leader
    setBallot(ballot, of: peer)
  }

  /// Follows a leader that admits this side, unless a larger group would lose its state by that.
  mutating func handleWelcome(_ welcome: Welcome, from peer: PeerID, at now: Instant) -> Bool {
    guard let ask, ask.leader == peer, ask.number == welcome.request else {
      send(.leave(membership: welcome.membership), to: peer)
      return true
    }
    self.ask = nil
    guard welcome.start == .afterPosition || mayTakeOverState(of: peer) else {
      distrust(peer, at: now)
      send(.leave(membership: welcome.membership), to: peer)
      return true
    }
    for member in members.ids { dismiss(member, at: now) }
    let following = Followership(leader: peer, membership: welcome.membership, heardAt: now)
    role = .following(following)
    requested = nil
    follow(welcome, at: now)
    broadcastBallot()
    return true
  }

  /// Whether this side may discard its state for that of another group: only if it has none, if
  /// nobody shares it, or if the other group is at least as large as what is left of this one.
  private func mayTakeOverState(of leader: PeerID) -> Bool {
    if log.appliedIndex == 0 { return true }
    let others = remainder.filter { $0 != leader && peers[$0]?.ballot?.leader != leader }
    return others.isEmpty || 1 + others.count <= 1 + (followerCounts[leader] ?? 0)
  }

  /// The other members of the last roster that would answer.
  var remainder: [PeerID] {
    guard let roster else { return [] }
    return roster.members.map(\.id).filter { $0 != local.id && peers[$0]?.isPresent == true }
  }
}
