import CaromCore
import CaromPhysics
import CaromSimulation

/// Smooths the corrections of a predicted match for display. When a correction moves the puck or a
/// mallet, the displayed position moves to the corrected one within a tenth of a second, without
/// entering a rail or leaving the player's half.
public struct RinkView: Hashable, Sendable {
  /// The distance, in meters, above which a correction is displayed immediately instead of
  /// smoothly. A correction that large means that the puck was repositioned, as for a face-off.
  static let jump = 0.6

  private var puck = PredictionBlend(jump: jump)
  private var home = PredictionBlend(jump: jump)
  private var away = PredictionBlend(jump: jump)

  /// Creates a view without corrections to smooth.
  public init() {}

  /// Starts smoothing, at `now`, a correction that changed the state of the current tick from `old`
  /// to `new`.
  public mutating func correct(from old: RinkState, to new: RinkState, at now: Instant) {
    Self.correct(&puck, old.puck.position, new.puck.position, now)
    Self.correct(&home, old.homeMallet, new.homeMallet, now)
    Self.correct(&away, old.awayMallet, new.awayMallet, now)
  }

  /// Returns `state` with the positions to be drawn at `now`.
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

  /// Returns a puck's position, clamped to the area within the rails. Only in the mouth of a goal
  /// may the puck's center reach the goal line.
  private static func onTable(_ point: LatticePoint) -> LatticePoint {
    let inMouth = abs(point.vector.y) <= Preset.goalHalfWidth - Preset.puckRadius
    let x = inMouth ? Bounds.puckX : Lattice.units(Preset.halfLength - Preset.puckRadius)
    return LatticePoint(
      x: min(max(point.x, -x), x), y: min(max(point.y, -Bounds.puckY), Bounds.puckY))
  }
}
