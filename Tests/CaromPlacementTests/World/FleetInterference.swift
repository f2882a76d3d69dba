import CaromCore

@testable import CaromPlacement

/// What happens to a fleet.
enum FleetInterference: CaseIterable {
  /// A host's process dies and is started again later.
  case crash
  case restart
  /// Nothing passes between a host and the directory for a time.
  case cut
  case heal
  /// An operator wants a host to be empty.
  case drain
  /// The directory is slow for a time.
  case slowDirectory
  case fastDirectory
  /// The directory loses all that it knew.
  case forget
  /// A player leaves for good.
  case leave
}

extension FleetWorld {
  func scheduleInterference() {
    var time = now
    while true {
      time = time + generator.duration(in: .zero...(settings.interference * 2))
      guard time < endOfInterference else { break }
      var kind = FleetInterference.allCases.randomElement(using: &generator)!
      // The fleet would know of nothing for long.
      if kind == .forget, !generator.chance(0.3) { kind = .leave }
      schedule(.interference(kind), at: time)
    }
    for _ in hosts.indices {
      schedule(.interference(.heal), at: endOfInterference)
      schedule(.interference(.restart), at: endOfInterference)
    }
    schedule(.interference(.fastDirectory), at: endOfInterference)
  }

  func crash(_ host: Int) {
    hosts[host].machine = nil
    hosts[host].games = [:]
  }

  func interfere(_ interference: FleetInterference) {
    switch interference {
    case .crash:
      guard let host = hosts.indices.randomElement(using: &generator) else { return }
      crash(host)
      schedule(.interference(.restart), within: .milliseconds(200)...Duration.seconds(9))
    case .restart:
      if let host = hosts.firstIndex(where: { $0.machine == nil }) { start(host) }
    case .cut:
      guard let host = hosts.indices.randomElement(using: &generator) else { return }
      hosts[host].isCut = true
      schedule(.interference(.heal), within: .milliseconds(200)...Duration.seconds(12))
    case .heal:
      if let host = hosts.firstIndex(where: \.isCut) {
        hosts[host].isCut = false
        // What was on its way is lost with its connection.
        touch(host) { $0.handleDisconnect(of: $0.connection, at: now) }
      }
    case .drain:
      guard let host = hosts.randomElement(using: &generator) else { return }
      _ = carryOut(.drain(host.record.id))
    case .slowDirectory:
      directoryDelay = generator.duration(in: .milliseconds(50)...Duration.seconds(4))
      schedule(.interference(.fastDirectory), within: .seconds(1)...Duration.seconds(6))
    case .fastDirectory: directoryDelay = .zero
    case .forget: forgetEverything()
    case .leave:
      guard let player = players.indices.randomElement(using: &generator),
        let host = players[player].host
      else { return }
      let id = players[player].id
      let match = players[player].match
      players[player].state = .ended
      touch(host) { $0.remove(id, from: match, at: now) }
    }
  }
}
