/// A solver for one dynamic disc and two kinematic discs, such as a puck and two mallets. It
/// advances them by fixed steps, contact by contact, with exact times of impact. It allocates no
/// memory and has no state between steps.
///
/// Drag is computed exactly: a step measures time with a clock that slows down as the dynamic disc
/// does, so the disc's velocity as measured by this clock is constant. A kinematic disc's velocity
/// is constant in time, unless a pinned dynamic disc stops it.
public struct SingleDiscSolver: Hashable, Sendable {
  /// The maximum number of contacts in a step. Further contacts pin the dynamic disc: it stops, and
  /// so do kinematic discs that touch it.
  public static let contactLimit = 64

  /// The table on which the discs move.
  public let table: Table
  /// The restitution, friction and damping of the table and the discs.
  public let surface: Surface
  /// The length of a step, in seconds.
  public let step: Double
  /// The maximum speed of the dynamic disc after a hit by a kinematic disc, in meters per second.
  public let speedCap: Double
  private let horizon: Double

  /// Creates a solver for steps of `step` seconds. `surface` must have no Coulomb deceleration.
  public init(table: Table, surface: Surface, step: Double, speedCap: Double = .infinity) {
    precondition(surface.damping.deceleration == 0, "a SingleDiscSolver supports drag only")
    precondition(step > 0, "a step must be longer than 0 s")
    self.table = table
    self.surface = surface
    self.step = step
    self.speedCap = speedCap
    horizon = surface.damping.clock(at: step)
  }

  /// Advances the discs by one step. If `disc` crosses a goal line, its motion ends there.
  ///
  /// The kinematic discs always move for the whole step, unless they are stopped by a pinned
  /// `disc`.
  public func advance(_ disc: inout Disc, _ first: inout Disc, _ second: inout Disc)
    -> SingleDiscContacts
  {
    if isApart(disc, first), isApart(disc, second) {
      let end = disc.position + disc.velocity * horizon
      if table.isClear(disc.position, end, radius: disc.radius) {
        disc.position = end
        disc.velocity = disc.velocity * decay(at: horizon)
        first.position += first.velocity * step
        second.position += second.velocity * step
        var contacts = SingleDiscContacts()
        contacts.endTime = step
        return contacts
      }
    }
    return search(&disc, &first, &second)
  }

  /// Returns the derivative of the clock with respect to time, 1 - ks = e^-kt. The dynamic disc's
  /// velocity in meters per second is its velocity as measured by the clock times this factor.
  @inline(__always)
  private func decay(at clock: Double) -> Double { 1 - surface.damping.drag * clock }

  /// Returns whether two discs cannot touch in this step, because the boxes that they sweep do not
  /// overlap.
  @inline(__always)
  private func isApart(_ disc: Disc, _ other: Disc) -> Bool {
    let offset = disc.position - other.position
    let reach = disc.radius + other.radius
    let x = (disc.velocity.x.magnitude + other.velocity.x.magnitude) * step
    let y = (disc.velocity.y.magnitude + other.velocity.y.magnitude) * step
    return offset.x.magnitude > reach + x || offset.y.magnitude > reach + y
  }

  @inline(never)
  private func search(_ disc: inout Disc, _ first: inout Disc, _ second: inout Disc)
    -> SingleDiscContacts
  {
    var run = SingleDiscStep(table: table, surface: surface, horizon: horizon, step: step)
    run.speedCap = speedCap
    return run.resolveContacts(&disc, &first, &second)
  }
}
