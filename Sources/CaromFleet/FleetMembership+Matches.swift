import CaromCore
import CaromPlacement

extension FleetMembership {
  /// Whether the host may admit players.
  package var isAdmitting: Bool { change { $0.isAdmitting(at: $1) } }

  /// Whether the host gets no more matches.
  var isDraining: Bool { change { machine, _ in machine.isDraining } }

  /// Decides about a player who has come with `claim` in a token that the host has checked. If the
  /// player is accepted, the seat is taken in the directory afterwards; in the rare case that it
  /// was given away, the event `noSeat` follows.
  package func admit(_ player: PeerID, with claim: MatchClaim) -> FleetHost.Admission {
    change { $0.admit(player, with: claim, at: $1) }
  }

  /// Removes a player who has left a match for good.
  package func remove(_ player: PeerID, from match: MatchID) {
    change { $0.remove(player, from: match, at: $1) }
  }

  /// Whether the match is the host's, even if it has not begun yet.
  func has(_ match: MatchID) -> Bool { change { machine, _ in machine.matches[match] != nil } }

  /// Sets the checkpoint of a match. It is sent with the next renewal, or at once if `isUrgent`.
  package func save(_ checkpoint: Checkpoint, of match: MatchID, isUrgent: Bool = false) {
    change { $0.save(checkpoint, of: match, isUrgent: isUrgent, at: $1) }
  }

  /// The tick of the newest checkpoint of a match that the directory is known to have.
  package func savedTick(of match: MatchID) -> UInt64? {
    change { machine, _ in machine.matches[match]?.savedTick }
  }

  /// Asks for another host for a match, which must not change any more. The event `lost` follows,
  /// or `notMoved`.
  package func move(_ match: MatchID, _ checkpoint: Checkpoint?) {
    change { $0.move(match, checkpoint, at: $1) }
  }

  /// Takes `move` back: the match goes on here. The event `lost` follows if the directory has moved
  /// it already.
  package func keep(_ match: MatchID) { change { machine, _ in machine.keep(match) } }

  /// Reports that a match is over, with a result of at most 8,192 bytes. The event `finished`
  /// follows, or `lost` if another host has the match.
  package func finish(_ match: MatchID, result: [UInt8]) {
    change { $0.finish(match, result: result, at: $1) }
  }

  /// Stops the directory from giving this host new matches.
  package func drain() { change { $0.drain(at: $1) } }

  /// Sets the load that the host reports with its next renewals.
  package func report(_ load: HostLoad) { change { machine, _ in machine.load = load } }
}
