/// Moves one puck and two kinematic mallets through one fixed step, contact by contact, with exact
/// times of impact. Nothing is allocated and nothing is kept between steps.
///
/// Drag is exact: the step runs in the clock in which the puck moves straight. A mallet moves
/// straight in time at its velocity; where it would press a pinned puck it stops instead.
public struct PuckSolver: Hashable, Sendable {
  /// More contacts than this in one step pin the puck: it stops, and so do mallets that touch it.
  public static let contactLimit = 64

  /// Where the puck plays.
  public let table: Table
  /// What contacts and sliding cost.
  public let surface: Surface
  /// Seconds.
  public let step: Double
  /// A mallet's hit never leaves the puck faster than this, metres a second.
  public let speedCap: Double
  private let horizon: Double

  /// A solver for steps of `step` seconds; `surface` must have no Coulomb deceleration.
  public init(table: Table, surface: Surface, step: Double, speedCap: Double = .infinity) {
    precondition(surface.glide.deceleration == 0, "the puck's solver knows drag only")
    precondition(step > 0, "a step takes time")
    self.table = table
    self.surface = surface
    self.step = step
    self.speedCap = speedCap
    horizon = surface.glide.clock(at: step)
  }

  /// Moves the puck and both mallets through one step, or up to a goal.
  ///
  /// Mallets always make their whole way, unless the pinned puck stops them.
  public func advance(_ puck: inout Disc, _ first: inout Disc, _ second: inout Disc)
    -> PuckTouches
  {
    if isQuiet(puck, first), isQuiet(puck, second) {
      let end = puck.position + puck.velocity * horizon
      if table.isClear(puck.position, end, radius: puck.radius) {
        puck.position = end
        puck.velocity = puck.velocity * decay(at: horizon)
        first.position += first.velocity * step
        second.position += second.velocity * step
        var touches = PuckTouches()
        touches.endTime = step
        return touches
      }
    }
    return search(&puck, &first, &second)
  }

  /// v at a clock is the velocity in the clock times this: 1 - ks = e^-kt.
  @inline(__always)
  private func decay(at clock: Double) -> Double { 1 - surface.glide.drag * clock }

  /// Whether the boxes that both sweep in the whole step are apart.
  @inline(__always)
  private func isQuiet(_ puck: Disc, _ mallet: Disc) -> Bool {
    let offset = puck.position - mallet.position
    let reach = puck.radius + mallet.radius
    let x = (puck.velocity.x.magnitude + mallet.velocity.x.magnitude) * step
    let y = (puck.velocity.y.magnitude + mallet.velocity.y.magnitude) * step
    return offset.x.magnitude > reach + x || offset.y.magnitude > reach + y
  }

  @inline(never)
  private func search(_ puck: inout Disc, _ first: inout Disc, _ second: inout Disc)
    -> PuckTouches
  {
    var run = PuckRun(table: table, surface: surface, horizon: horizon, step: step)
    run.speedCap = speedCap
    return run.play(&puck, &first, &second)
  }
}
