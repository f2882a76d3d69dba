import CaromCore

extension MemoryDirectory {
  mutating func answer(
    _ command: HostCommand, from sender: CommandSender, at now: Instant
  ) -> DirectoryAnswer {
    if case .register(let registration) = command {
      return register(registration, from: sender, at: now)
    }
    guard let known = hosts[sender.host]?.sender else { return .unknownHost }
    guard known.run == sender.run else { return .replaced }
    guard known.connection == sender.connection else { return .unknownHost }
    if let claim = command.claim, claim.host != sender.host {
      return .superseded(placement(of: claim.match))
    }
    switch command {
    case .register(let registration): return register(registration, from: sender, at: now)
    case .renew(let load): return renew(sender.host, load: load, at: now)
    case .withdraw:
      remove(sender.host, at: now)
      return .done
    case .drain: return drain(sender.host)
    case .takeSeat(let claim, let player): return takeSeat(claim, player: player)
    case .releaseSeat(let claim, let player): return releaseSeat(claim, player: player)
    case .save(let claim, let checkpoint): return save(claim, checkpoint)
    case .resume(let claim): return resume(claim)
    case .move(let claim, let checkpoint): return move(claim, checkpoint, at: now)
    case .finish(let claim, let result): return finish(claim, result: result, at: now)
    }
  }

  private mutating func renew(
    _ host: PeerID, load: HostLoad, at now: Instant
  ) -> DirectoryAnswer {
    let leaseEnd = now + PlacementRules.lease
    leaseEnds.insert(host, at: leaseEnd)
    change(host) { entry in
      entry.leaseEnd = leaseEnd
      entry.load = load
    }
    guard let entry = hosts[host] else { return .unknownHost }
    let assigned = entry.unconfirmed.prefix(PlacementRules.assignmentLimit).compactMap {
      matches[$0]?.claim
    }
    return .renewed(
      isDraining: entry.isDraining, patience: entry.patience, assigned: assigned)
  }

  mutating func drain(_ host: PeerID, patience: Duration? = nil) -> DirectoryAnswer {
    guard hosts[host] != nil else { return .unknownHost }
    change(host) { entry in
      entry.isDraining = true
      entry.patience = patience ?? entry.patience
    }
    return .done
  }

  func doors(of host: PeerID) -> DirectoryAnswer {
    guard let game = hosts[host]?.record.game else { return .unknownHost }
    let others = hosts.values.map(\.record).filter { $0.game == game && $0.id != host }
      .sorted { $0.id < $1.id }
    let ring = others.filter { $0.id > host } + others.filter { $0.id < host }
    return .doors(Array(ring.prefix(PlacementRules.doorLimit)))
  }

  /// Removes a host if it exists, and orphans its matches.
  mutating func remove(_ host: PeerID, at now: Instant) {
    guard let entry = hosts[host] else { return }
    for match in entry.matches.sorted() { orphan(match, at: now) }
    setRank(of: entry.record, from: hosts[host]?.rank, to: nil)
    hosts[host] = nil
    let game = entry.record.game
    versions[game] = versions[game].flatMap { $0 > 1 ? $0 - 1 : nil }
    keys[entry.keys] = keys[entry.keys].flatMap { $0 > 1 ? $0 - 1 : nil }
  }

  /// Changes a host, and moves it to its new rank.
  mutating func change(_ host: PeerID, _ body: (inout HostEntry) -> Void) {
    var change: (record: HostRecord, before: Int?, after: Int?)?
    hosts.change(host) { entry in
      let before = entry.rank
      body(&entry)
      change = (entry.record, before, entry.rank)
    }
    if let change { setRank(of: change.record, from: change.before, to: change.after) }
  }

  mutating func setRank(of host: HostRecord, from before: Int?, to after: Int?) {
    guard before != after else { return }
    for region in ["", host.region] {
      let pool = HostPool(game: host.game, region: region)
      if let before { pools[pool]?.remove(host.id, rank: before) }
      if let after { pools[pool, default: RankedHosts()].insert(host.id, rank: after) }
      if pools[pool]?.isEmpty == true { pools[pool] = nil }
    }
  }
}
