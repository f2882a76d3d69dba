import CaromCore

/// The directory of a fleet as a value: the rules of leases, placing, claims and checkpoints.
///
/// Scripts carry out the same rules in Redis. Tests use this directory, where a whole fleet runs on
/// virtual time.
package struct MemoryDirectory: Sendable {
  /// A seat that is reserved.
  struct SeatKey: Hashable, Sendable {
    let match: MatchID
    let player: PeerID
  }

  var hosts = WatchedDictionary<PeerID, HostEntry>()
  var matches = WatchedDictionary<MatchID, MatchEntry>()
  /// The hosts that take matches: each is in the pool of its region and in that of all regions.
  var pools: [HostPool: RankedHosts] = [:]
  /// The number of living hosts of each version, including those that are draining.
  var versions: [GameVersion: Int] = [:]
  /// The number of living hosts that have these keys.
  var keys: [HostKeys: Int] = [:]

  // A deadline in these queues counts only if the entry that it is for has the same deadline still.
  var leaseEnds = DeadlineQueue<PeerID>()
  var claimEnds = DeadlineQueue<MatchID>()
  var seatEnds = DeadlineQueue<SeatKey>()
  var matchEnds = DeadlineQueue<MatchID>()

  /// Creates the directory of an empty fleet.
  package init() {}

  /// Carries out a command at the time `now`. The time of one call must not be earlier than that of
  /// the call before.
  package mutating func answer(_ command: DirectoryCommand, at now: Instant) -> DirectoryAnswer {
    sweep(at: now)
    switch command {
    case .host(let command, let sender): return answer(command, from: sender, at: now)
    case .drain(let host, let patience): return drain(host, patience: patience)
    case .place(let request): return place(request, at: now)
    case .locate(let match, let player): return locate(match, player: player, at: now)
    case .doors(let host): return doors(of: host)
    case .status: return .status(status)
    case .match(let match): return status(of: match)
    }
  }

  /// Ends the leases, claims, reservations and matches whose time has come. Every command does this
  /// first, so that no answer depends on when somebody swept last.
  package mutating func sweep(at now: Instant) {
    while let host = leaseEnds.popFirst(until: now) {
      guard let entry = hosts[host], entry.leaseEnd <= now else { continue }
      remove(host, at: now)
    }
    while let match = claimEnds.popFirst(until: now) {
      guard case .held(let confirmBy?) = matches[match]?.phase, confirmBy <= now else { continue }
      endUnconfirmedClaim(of: match, at: now)
    }
    while let seat = seatEnds.popFirst(until: now) {
      guard let index = matches[seat.match]?.seatIndex(of: seat.player),
        case .reserved(let until) = matches[seat.match]?.seats[index].state, until <= now
      else { continue }
      removeSeat(index, of: seat.match)
    }
    while let match = matchEnds.popFirst(until: now) {
      guard let expiry = matches[match]?.expiry, expiry <= now else { continue }
      matches[match] = nil
    }
  }

  /// The next time at which a lease, a claim, a reservation or a match may end.
  package var nextTimeout: Instant? {
    earliest(
      earliest(leaseEnds.nextDeadline, claimEnds.nextDeadline),
      earliest(seatEnds.nextDeadline, matchEnds.nextDeadline))
  }

  private func status(of match: MatchID) -> DirectoryAnswer {
    switch matches[match]?.phase {
    case nil: .refused(.unknownMatch)
    case .finished(let result, _): .over(result: result)
    case .orphaned: .orphaned
    case .held: placement(of: match).map { .placed($0) } ?? .orphaned
    }
  }

  private var status: FleetStatus {
    let rows = hosts.values.sorted { $0.record.id < $1.record.id }.map { entry in
      HostStatus(
        entry.record, seatsInUse: entry.seatsInUse, matches: entry.matches.count,
        load: entry.load, isDraining: entry.isDraining)
    }
    var orphans = 0
    var finished = 0
    for entry in matches.values {
      switch entry.phase {
      case .held: break
      case .orphaned: orphans += 1
      case .finished: finished += 1
      }
    }
    return FleetStatus(
      hosts: rows, matches: matches.count - orphans - finished, orphans: orphans,
      finished: finished)
  }
}
