import CaromCore
import Testing

@testable import CaromPlacement

/// A host's machine and the other side of its connection.
struct HostScript {
  var now = Instant.zero
  var machine: FleetHost
  /// What the host has sent and nobody has answered.
  private(set) var sent: [HostCommand] = []
  private(set) var connection: UInt64 = 0
  private(set) var events: [FleetHost.Event] = []

  init(seats: Int = 4) {
    machine = FleetHost(.make(1, seats: seats), keys: .keys(1, 2), run: 5, at: .zero)
    machine.handleTimeout(at: now)
    collect()
  }

  /// A host that has registered, and has sent its first renewal.
  static func registered(seats: Int = 4) -> HostScript {
    var script = HostScript(seats: seats)
    script.answer(.registered(RegistrationResult()))
    script.fire()
    script.answer(.renewed(isDraining: false, assigned: []))
    script.events = []
    return script
  }

  /// A host that has begun a match with one player.
  static func playing(_ claim: MatchClaim) -> HostScript {
    var script = registered()
    #expect(script.admit(.player(1), claim) == .accepted)
    script.answer(.resumed(nil, players: [.player(1)]), to: .resume(claim))
    script.answer(.done, to: .takeSeat(claim, player: .player(1)))
    script.events = []
    return script
  }

  static func claim(_ match: Int, number: UInt64 = 10) -> MatchClaim {
    MatchClaim(.match(match), host: HostRecord.make(1).id, number: number)
  }

  mutating func collect() {
    while let request = machine.pollRequest() {
      guard case .host(let command, let sender) = request.command else { continue }
      #expect(
        sender == CommandSender(machine.record.id, run: 5, connection: request.connection))
      if request.connection != connection { sent = [] }
      connection = request.connection
      sent.append(command)
    }
    while let event = machine.pollEvent() { events.append(event) }
  }

  mutating func takeEvents() -> [FleetHost.Event] {
    defer { events = [] }
    return events
  }

  /// Answers the oldest command, which must be `command` if that is given.
  mutating func answer(_ answer: DirectoryAnswer, to command: HostCommand? = nil) {
    guard let first = sent.first else {
      Issue.record("the host has asked nothing")
      return
    }
    if let command { #expect(first == command) }
    sent.removeFirst()
    machine.handle(answer, on: connection, at: now)
    collect()
  }

  mutating func fire() {
    machine.handleTimeout(at: now)
    collect()
  }

  /// Lets time pass, and the host's timers fire.
  mutating func advance(by duration: Duration) {
    let end = now + duration
    while let deadline = machine.nextTimeout, deadline <= end {
      now = max(now, deadline)
      fire()
    }
    now = end
  }

  mutating func admit(_ player: PeerID, _ claim: MatchClaim) -> FleetHost.Admission {
    defer { collect() }
    return machine.admit(player, with: claim, at: now)
  }
}
