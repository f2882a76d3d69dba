import CaromCore

@testable import CaromPlacement

extension FleetWorld {
  /// Where hosts, players and the directory do not agree, when all had time to.
  var disagreements: [String] {
    hosts.indices.flatMap(disagreements(ofHost:)) + unknownMatches
      + players.indices.flatMap(disagreements(ofPlayer:))
  }

  /// The matches that the directory has given to a host that does not know of them.
  private var unknownMatches: [String] {
    var found: [String] = []
    for (match, entry) in directory.matches where entry.isHeld {
      let host = hostIndices[entry.claim.host].map { hosts[$0] }
      if host?.machine?.matches[match] == nil {
        found.append("\(match): the host does not know of it")
      }
    }
    return found
  }

  private func disagreements(ofHost index: Int) -> [String] {
    guard let machine = hosts[index].machine else { return ["host \(index) does not run"] }
    var found: [String] = []
    if !machine.isAdmitting(at: now) { found.append("host \(index) has no lease") }
    for (match, known) in machine.matches {
      guard let entry = directory.matches[match], entry.isHeld, entry.claim == known.claim else {
        found.append("host \(index) has \(match) without a claim to it")
        continue
      }
      let taken = entry.seats.filter { $0.state == .taken }.map(\.player)
      if Set(taken) != Set(known.players) {
        found.append("host \(index) has \(known.players) in \(match), the directory \(taken)")
      }
    }
    return found
  }

  private func disagreements(ofPlayer index: Int) -> [String] {
    let player = players[index]
    switch player.state {
    case .ended: return []
    case .away: return ["player \(index) is nowhere"]
    case .playing:
      guard let host = player.host,
        let match = hosts[host].machine?.matches[player.match],
        match.players.contains(player.id)
      else { return ["player \(index) plays where nobody knows of it"] }
      return []
    }
  }
}
