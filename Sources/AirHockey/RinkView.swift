import CaromCore
import CaromPhysics
import CaromSimulation

/// What is drawn of a foretold match: where a correction moved the puck or the opponent's mallet,
/// they glide there within a tenth of a second, and nothing is drawn inside a rail or out of its
/// half.
public struct RinkView: Hashable, Sendable {
  /// Metres: a puck that was placed anew jumps.
  static let jump = 0.6

  private var puck = PredictionBlend(jump: jump)
  private var home = PredictionBlend(jump: jump)
  private var away = PredictionBlend(jump: jump)

  /// Nothing to hide yet.
  public init() {}

  /// The state of the present tick was `old` and is `new`, by a correction at `now`.
  public mutating func correct(from old: RinkState, to new: RinkState, at now: Instant) {
    Self.correct(&puck, old.puck.position, new.puck.position, now)
    Self.correct(&home, old.homeMallet, new.homeMallet, now)
    Self.correct(&away, old.awayMallet, new.awayMallet, now)
  }

  /// Where everything is drawn at `now`.
  public func shown(_ state: RinkState, at now: Instant) -> RinkState {
    var shown = state
    shown.puck.position = Self.onTable(Self.moved(state.puck.position, puck, now))
    for (seat, blend) in [(Seat.home, home), (.away, away)] {
      shown[mallet: seat] = Bounds.clamped(
        mallet: Self.moved(state[mallet: seat], blend, now), of: seat)
    }
    return shown
  }

  private static func correct(
    _ blend: inout PredictionBlend, _ old: LatticePoint, _ new: LatticePoint, _ now: Instant
  ) {
    guard old != new else { return }
    let (old, new) = (old.vector, new.vector)
    blend.correct(from: (old.x, old.y), to: (new.x, new.y), at: now)
  }

  private static func moved(
    _ point: LatticePoint, _ blend: PredictionBlend, _ now: Instant
  ) -> LatticePoint {
    let offset = blend.offset(at: now)
    guard offset.x != 0 || offset.y != 0 else { return point }
    return LatticePoint(point.vector + Vector(offset.x, offset.y))
  }

  /// Within the rails; as far as the goal line in a goal's mouth alone.
  private static func onTable(_ point: LatticePoint) -> LatticePoint {
    let inMouth = abs(point.vector.y) <= Preset.goalHalfWidth - Preset.puckRadius
    let x = inMouth ? Bounds.puckX : Lattice.units(Preset.halfLength - Preset.puckRadius)
    return LatticePoint(
      x: min(max(point.x, -x), x), y: min(max(point.y, -Bounds.puckY), Bounds.puckY))
  }
}
