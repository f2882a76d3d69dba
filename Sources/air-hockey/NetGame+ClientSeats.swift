import AirHockey
import Carom
import CaromSimulation
import TerminalText

// The host of a table at which two clients play each other. The host itself does not play.
extension NetGame {
  /// Handles a notice about a client or a spectator.
  func handleClient(
    _ notice: HostedRollback<Rink>.Notice, of match: HostedRollback<Rink>
  ) {
    switch notice {
    case .joined(let peer, player: nil):
      display.write("\(peer.name) watches")
      send(playing, to: peer)
    case .joined(let peer, let player?): seat(peer, Seat(player: player), in: match)
    case .left(_, let player?, let reason):
      clientLeft(Seat(player: player), reason, match)
    case .interrupted(let peer, let player?):
      display.write("no connection to \(peer.name): waiting for its return")
      setInterrupted(true, Seat(player: player), of: match)
    case .resumed(let peer, let player?):
      display.write("\(peer.name) is back")
      setInterrupted(false, Seat(player: player), of: match)
    default: break
    }
  }

  /// Gives a client its seat, and lets the match go on.
  private func seat(_ peer: Peer, _ seat: Seat, in match: HostedRollback<Rink>) {
    clientSeats.sitDown(peer.id, on: seat, in: match.server.state.state)
    clientPeers[seat] = peer
    display.write("\(peer.name) sits down")
    // A client that takes over its own seat changes no name.
    if !updateNames(of: match) { send(playing, to: peer) }
    seatsChanged(freeClientSeats)
    // Another table gets the state as it is.
    guard fleet?.isMoving != true else { return }
    match.isPaused = false
    isPlaying = true
  }

  private func setInterrupted(
    _ isInterrupted: Bool, _ seat: Seat, of match: HostedRollback<Rink>
  ) {
    clientSeats.setInterrupted(isInterrupted, seat)
    updateNames(of: match)
  }

  private func clientLeft(
    _ seat: Seat, _ reason: DisconnectReason, _ match: HostedRollback<Rink>
  ) {
    clientSeats.leave(seat)
    let name = clientPeers[seat]?.name
    clientPeers[seat] = nil
    // The same client sits down again at once.
    guard reason != .replaced else { return }
    if let name {
      display.write("\(name) has left: \(reason)")
      announcement = "\(TextWidth.plain(name)) is gone (\(reason))"
    }
    updateNames(of: match)
    seatsChanged(freeClientSeats)
    guard clientSeats.isEmpty else { return }
    match.isPaused = true
    isPlaying = false
    finishFleetMatch(match.server.state.state)
    if setup.tickLimit != nil { end("\(reason)") }
  }

  /// Updates the names of the players, and tells all peers if a name has changed. Returns whether
  /// one has.
  @discardableResult
  private func updateNames(of match: HostedRollback<Rink>) -> Bool {
    let current = SeatValues(name(of: .home), name(of: .away))
    guard names != current else { return false }
    names = current
    summary.peer = names.home ?? summary.peer
    summary.watchedClient = names.away ?? summary.watchedClient
    sendNames(to: match.peers)
    return true
  }

  /// The number of seats without a client.
  private var freeClientSeats: Int { Seat.allCases.count { clientPeers[$0] == nil } }

  /// Returns the name of the player on a seat, or nil while the table waits for a client's return.
  private func name(of seat: Seat) -> String? {
    guard !clientSeats.isAwaited(seat) else { return nil }
    if let peer = clientPeers[seat] { return TextWidth.plain(peer.name) }
    return clientSeats.isComputer(seat) ? "Computer" : nil
  }

  /// Sets what the host gives to the two players in the next tick.
  func setClientInputs(of match: HostedRollback<Rink>) {
    let inputs = clientSeats.inputs(in: match.server.state.state)
    for seat in Seat.allCases { match.server.setInput(inputs[seat], for: Int(seat.rawValue)) }
    updateNames(of: match)
  }
}

extension Seat {
  /// Creates the seat of a player of the match: 0 is home, 1 is away.
  init(player: Int) { self = player == 0 ? .home : .away }
}
