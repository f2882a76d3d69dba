import CaromCore

@testable import CaromPlacement

extension MemoryDirectory {
  /// What must never be, as sentences: the directory is sound if there are none.
  func faults(at now: Instant) -> [String] {
    var faults: [String] = []
    var seats: [PeerID: Int] = [:]
    for (id, match) in matches {
      let found = match.faults(at: now) + match.faults(at: hosts[match.claim.host], id)
      faults += found.map { "\(id): \($0)" }
      if match.isHeld { seats[match.claim.host, default: 0] += match.seats.count }
    }
    for (id, host) in hosts {
      faults += host.faults(seats: seats[id, default: 0], at: now).map { "\(id): \($0)" }
      if !host.matches.allSatisfy({ matches[$0]?.claim.host == id }) {
        faults.append("\(id): has a match of another host")
      }
    }
    let taking = hosts.values.count { $0.rank != nil }
    let listed = pools.filter { $0.key.region.isEmpty }.values.reduce(0) { $0 + $1.count }
    if taking != listed { faults.append("\(taking) hosts take matches, \(listed) are listed") }
    return faults
  }
}

extension HostEntry {
  /// What is wrong with a host whose matches use so many seats.
  func faults(seats: Int, at now: Instant) -> [String] {
    var faults: [String] = []
    if leaseEnd <= now { faults.append("the lease is over") }
    if seatsInUse != seats { faults.append("seats do not add up") }
    if seatsInUse > record.seats { faults.append("a seat is used twice") }
    if matches.count > PlacementRules.matchLimit { faults.append("too many matches") }
    if !unconfirmed.allSatisfy(matches.contains) {
      faults.append("tells of a match that it does not have")
    }
    return faults
  }
}

extension MatchEntry {
  /// What is wrong between a match and the host that its claim names.
  func faults(at host: HostEntry?, _ id: MatchID) -> [String] {
    let isThere = host?.matches.contains(id) == true
    var faults: [String] = []
    if isHeld, !isThere { faults.append("its host lacks it") }
    if !isHeld, isThere { faults.append("a host still has it") }
    if case .held(_?) = phase, host?.unconfirmed.contains(id) != true {
      faults.append("the host is not told of the claim")
    }
    return faults
  }

  func faults(at now: Instant) -> [String] {
    var faults: [String] = []
    if hasPlayerTwice { faults.append("a player has two seats") }
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

  private var hasPlayerTwice: Bool {
    // Most matches have two players, for whom a set would be costly.
    if seats.count == 2 { return seats[0].player == seats[1].player }
    return Set(seats.map(\.player)).count != seats.count
  }
}
