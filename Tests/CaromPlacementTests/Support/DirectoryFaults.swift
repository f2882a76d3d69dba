import CaromCore

@testable import CaromPlacement

extension MemoryDirectory {
  /// What must never be, as sentences: the directory is sound if there are none.
  func faults(at now: Instant) -> [String] {
    var faults: [String] = []
    var seats: [PeerID: Int] = [:]
    for (id, match) in matches {
      faults += match.faults(at: now).map { "\(id): \($0)" }
      let host = hosts[match.claim.host]
      if match.isHeld {
        seats[match.claim.host, default: 0] += match.seats.count
        if host?.matches.contains(id) != true { faults.append("\(id): its host lacks it") }
      } else if host?.matches.contains(id) == true {
        faults.append("\(id): a host still has it")
      }
      if case .held(_?) = match.phase, host?.unconfirmed.contains(id) != true {
        faults.append("\(id): the host is not told of the claim")
      }
    }
    for (id, host) in hosts {
      if host.leaseEnd <= now { faults.append("\(id): the lease is over") }
      if host.seatsInUse != seats[id, default: 0] { faults.append("\(id): seats do not add up") }
      if host.seatsInUse > host.record.seats { faults.append("\(id): a seat is used twice") }
      if host.matches.count > PlacementRules.matchLimit { faults.append("\(id): too many matches") }
      if !host.matches.allSatisfy({ matches[$0]?.claim.host == id }) {
        faults.append("\(id): has a match of another host")
      }
      if !Set(host.unconfirmed).isSubset(of: host.matches) {
        faults.append("\(id): tells of a match that it does not have")
      }
    }
    let taking = hosts.values.count { $0.rank != nil }
    let listed = pools.filter { $0.key.region.isEmpty }.values.reduce(0) { $0 + $1.count }
    if taking != listed { faults.append("\(taking) hosts take matches, \(listed) are listed") }
    return faults
  }
}

extension MatchEntry {
  func faults(at now: Instant) -> [String] {
    var faults: [String] = []
    if Set(seats.map(\.player)).count != seats.count { faults.append("a player has two seats") }
    if seats.count > PlacementRules.playerLimit { faults.append("too many players") }
    if case .held(let confirmBy?) = phase, confirmBy <= now { faults.append("a claim outlived") }
    if let expiry, expiry <= now { faults.append("a match outlived") }
    for seat in seats {
      switch (seat.state, isHeld) {
      case (.reserved(let until), true) where until > now: break
      case (.reserved, true): faults.append("a reservation outlived")
      case (.reserved, false), (.taken, false): faults.append("a seat without a host")
      case (.waiting, true): faults.append("a host without the player's seat")
      case (.taken, true), (.waiting, false): break
      }
    }
    return faults
  }
}
