/// What the match is about at a tick. Remaining times are ticks and count down.
public enum Phase: Hashable, Sendable {
  /// The puck lies in the centre and is released when the time is over.
  case faceOff(remaining: UInt16)
  /// The puck lies before a seat, which has this long to strike it.
  case serve(Seat, remaining: UInt16)
  /// The puck is in play; the seat in whose half its centre is has this long to send it over
  /// the centre line. Nobody owns it on the line itself.
  case playing(half: Seat?, remaining: UInt16)
  /// A goal was scored; the other seat serves when the time is over.
  case goalPause(scorer: Seat, remaining: UInt16)
  /// A seat kept the puck too long; the other serves when the time is over.
  case foulPause(by: Seat, remaining: UInt16)
  /// The match is over until the next begins.
  case matchEnd(winner: Seat)

  /// Whether mallets can strike the puck.
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
