import CaromSimulation

/// The whole of a match at one tick: what goes over the wire, on the screen and into a replay.
/// It is made of integers, and a `Rink` made from it goes on bit for bit.
public struct RinkState: Hashable, Sendable {
  /// How many steps were made.
  public var tick: Tick
  /// What the match is about.
  public var phase: Phase
  /// Who holds the match.
  public var pauses: Pauses
  /// 1 for the first match of a session, wrapping.
  public var match: UInt16
  /// Goals of this match.
  public var score: Score
  /// The puck.
  public var puck: PuckState
  /// The centre of home's mallet.
  public var homeMallet: LatticePoint
  /// The centre of away's mallet.
  public var awayMallet: LatticePoint

  /// A match before its face-off: no goals, the puck in the centre, mallets at rest.
  public init(match: UInt16 = 1, tick: Tick = .zero) {
    self.tick = tick
    phase = .faceOff(remaining: Self.faceOffTicks(of: match))
    pauses = []
    self.match = match
    score = Score()
    puck = PuckState(position: .zero)
    homeMallet = Bounds.rest(of: .home)
    awayMallet = Bounds.rest(of: .away)
  }

  /// The mallet of one seat.
  public subscript(mallet seat: Seat) -> LatticePoint {
    get { seat == .home ? homeMallet : awayMallet }
    set { if seat == .home { homeMallet = newValue } else { awayMallet = newValue } }
  }

  /// Whether anybody holds the match.
  public var isPaused: Bool { !pauses.isEmpty }

  /// The same match seen from the other end: turned half around, seats exchanged. Mirroring
  /// twice gives the same state.
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

  /// A fingerprint of every field, equal on every machine.
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

  /// How long a match's face-off waits: it differs from match to match, alike on every machine.
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
