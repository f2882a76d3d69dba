import AirHockey
import Carom
import CaromFleet
import CaromSimulation

/// What a player of a fleet knows of where its match is.
struct FleetPlaying {
  /// Why a player has left a host, though its match is not over.
  enum Departure: Sendable {
    /// The host has sent the player away.
    case moved(NextHost)
    /// The host has ended without another one for the match.
    case ended
    /// The host is gone, or the player has been told to join another one.
    case lost
  }

  let follower: FleetFollower
  /// When the host was last heard, as far as the follower knows.
  var lastHeard: Instant?
  /// The next step of the follower that has not been taken.
  var step: FleetFollower.Step?
  var waiter: CheckedContinuation<Void, Never>?
  /// Why the player has left the host; nil while it plays there.
  var departure: Departure?
  /// The number of bytes that this side sent to earlier hosts, and received from them.
  var earlierBytes: (sent: UInt64, received: UInt64) = (0, 0)
  /// Whether the player is at a host.
  var isAtHost = false
}

// The side of a player whose match a fleet has placed. The match may go on at another host.
extension NetGame {
  /// Begins to follow a match of a fleet.
  func becomeFleetPlayer(_ follower: FleetFollower) { player = FleetPlaying(follower: follower) }

  /// Plays over the session of the match's present host. Returns why the player has left the host,
  /// or nil if the game is over.
  func playAtHost(over session: Session) async -> FleetPlaying.Departure? {
    let total = bytes
    player?.earlierBytes = total
    player?.departure = nil
    player?.isAtHost = true
    player?.lastHeard = nil
    role = .undecided
    await play(over: session)
    player?.isAtHost = false
    return isOver ? nil : player?.departure
  }

  /// Notes a step of the follower. A player who is at a host leaves it.
  func take(_ step: FleetFollower.Step) {
    guard !isOver else { return }
    player?.step = step
    if player?.isAtHost == true { depart(.lost) }
    player?.waiter.take()?.resume()
  }

  /// Waits for the next step of the follower. Returns nil if the game is over.
  func nextStep() async -> FleetFollower.Step? {
    if player?.step == nil, !isOver {
      await withCheckedContinuation { player?.waiter = $0 }
    }
    defer { player?.step = nil }
    return isOver ? nil : player?.step
  }

  /// Tells the follower that the host lives, if inputs have come from it.
  func noteSignOfLife(of match: JoinedRollback<Rink>) {
    guard let player, let heard = match.lastInputs, heard != player.lastHeard else { return }
    self.player?.lastHeard = heard
    player.follower.assumeIsolated { $0.heard() }
  }

  /// Leaves the host for the reason that its connection has ended, if the match may go on at
  /// another one. Returns false if the game is over instead.
  func departs(because reason: DisconnectReason) -> Bool {
    guard player != nil else { return false }
    switch reason {
    case .moved(let next): depart(.moved(next))
    case .left: depart(.ended)
    case .timedOut, .connectionReset, .connectionLost: depart(.lost)
    default: return false
    }
    return true
  }

  private func depart(_ departure: FleetPlaying.Departure) {
    player?.departure = departure
    summary.score = confirmedState?.score ?? summary.score
    isPlaying = false
    isInterrupted = false
    let line =
      switch departure {
      case .moved(let next) where next.token != nil: "the match goes on at another table"
      case .ended:
        "the table has ended, and no other one has the match: asking the fleet for a minute"
      case .moved, .lost: "the table is gone: asking the fleet where the match is"
      }
    announcement = line
    display.write(line)
    leaveSession()
  }
}
