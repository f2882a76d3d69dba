/// The phase of a match. The remaining times are in ticks and count down.
public enum Phase: Hashable, Sendable {
  /// The puck lies in the center and is released when the remaining time has elapsed.
  case faceOff(remaining: UInt16)
  /// The puck lies in front of a player, who must strike it within the remaining time.
  case serve(Seat, remaining: UInt16)
  /// The puck is in play. The player whose half contains the puck's center must send it over the
  /// center line within the remaining time. `half` is nil while the center is exactly on the line.
  case playing(half: Seat?, remaining: UInt16)
  /// A goal was scored. The other seat serves when the remaining time has elapsed.
  case goalPause(scorer: Seat, remaining: UInt16)
  /// The player in a seat kept the puck too long. The other seat serves when the remaining time has
  /// elapsed.
  case foulPause(by: Seat, remaining: UInt16)
  /// The match has ended and the next match has not begun.
  case matchEnd(winner: Seat)

  /// Whether the mallets can strike the puck in this phase.
  public var isLive: Bool {
    switch self {
    case .serve, .playing: true
    case .faceOff, .goalPause, .foulPause, .matchEnd: false
    }
  }

  /// The same phase with the seats exchanged.
  public var mirrored: Phase {
    switch self {
    case .faceOff: self
    case .serve(let seat, let remaining): .serve(seat.opponent, remaining: remaining)
    case .playing(let half, let remaining): .playing(half: half?.opponent, remaining: remaining)
    case .goalPause(let scorer, let remaining):
      .goalPause(scorer: scorer.opponent, remaining: remaining)
    case .foulPause(let seat, let remaining): .foulPause(by: seat.opponent, remaining: remaining)
    case .matchEnd(let winner): .matchEnd(winner: winner.opponent)
    }
  }
}
