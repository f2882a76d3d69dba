import CaromSimulation

/// The complete state of a match at one tick, as it is sent, drawn and recorded. It consists of
/// integers, so a `Rink` created from it continues exactly like the original.
public struct RinkState: Hashable, Sendable {
  /// The number of ticks that have been simulated.
  public var tick: Tick
  /// The phase of the match.
  public var phase: Phase
  /// The seats that have paused the match.
  public var pauses: Pauses
  /// The number of the match in its session, starting at 1. The number wraps around after 65,535.
  public var match: UInt16
  /// The score of this match.
  public var score: Score
  /// The state of the puck.
  public var puck: PuckState
  /// The center of the home player's mallet, in units of 2^-32 m.
  public var homeMallet: LatticePoint
  /// The center of the away player's mallet, in units of 2^-32 m.
  public var awayMallet: LatticePoint

  /// Creates the state before the face-off of a match: a score of 0-0, the puck in the center, and
  /// the mallets at their starting positions.
  public init(match: UInt16 = 1, tick: Tick = .zero) {
    self.tick = tick
    phase = .faceOff(remaining: Self.faceOffTicks(of: match))
    pauses = []
    self.match = match
    score = Score()
    puck = PuckState(position: .zero)
    homeMallet = Bounds.start(of: .home)
    awayMallet = Bounds.start(of: .away)
  }

  /// The center of a seat's mallet.
  public subscript(mallet seat: Seat) -> LatticePoint {
    get { seat == .home ? homeMallet : awayMallet }
    set { if seat == .home { homeMallet = newValue } else { awayMallet = newValue } }
  }

  /// Whether either seat has paused the match.
  public var isPaused: Bool { !pauses.isEmpty }

  /// The same match as seen from the opposite side: rotated by half a turn, with the seats
  /// exchanged. Mirroring twice restores the state.
  public var mirrored: RinkState {
    var other = self
    other.phase = phase.mirrored
    other.pauses = pauses.mirrored
    other.score = score.mirrored
    other.puck = puck.mirrored
    other.homeMallet = awayMallet.mirrored
    other.awayMallet = homeMallet.mirrored
    return other
  }

  /// A hash of every field. Equal states have the same hash on every machine.
  public var hash: UInt64 {
    var hash = StateHash()
    let (code, seat, remaining) = phase.fields
    hash.combine(tick.rawValue)
    hash.combine(UInt64(code) | UInt64(seat) << 8 | UInt64(remaining) << 16)
    hash.combine(UInt64(pauses.rawValue) | UInt64(match) << 16)
    hash.combine(UInt64(score.home) | UInt64(score.away) << 8)
    hash.combine(puck.position)
    hash.combine(puck.velocity)
    hash.combine(puck.spin)
    hash.combine(homeMallet)
    hash.combine(awayMallet)
    return hash.value
  }

  /// Returns the wait before the face-off of a match, in ticks. The wait varies between matches,
  /// but is the same on every machine.
  static func faceOffTicks(of match: UInt16) -> UInt16 {
    let mixed = (UInt32(match) &* 0x9E37_79B1) >> 16
    return Preset.faceOffTicks + UInt16(mixed % UInt32(Preset.faceOffSpread + 1))
  }
}

extension StateHash {
  fileprivate mutating func combine(_ point: LatticePoint) {
    combine(point.x)
    combine(point.y)
  }
}
