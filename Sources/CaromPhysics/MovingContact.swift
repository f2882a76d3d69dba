/// Finds the first contact of two bodies that do not both have a constant velocity in the same
/// clock. The iteration never steps past a contact (conservative advancement).
///
/// For two bodies with gap g, radial speed c and a relative acceleration of at most A, the gap
/// after time t is at least g + ct - At²/2. The iteration steps to the root of this bound. For
/// constant velocities, this is Newton's method on a convex function, which converges fast.
enum MovingContact {
  /// The gap, in meters, below which two discs are in contact.
  private static let touching = 1e-14
  /// The maximum number of iterations. Even grazing contacts, which converge only linearly, need
  /// far fewer.
  private static let iterationLimit = 200
  /// The fraction of the horizon by which the iteration advances discs that rest against each
  /// other.
  private static let restingStep = 1.0 / 16

  /// Returns the first time in `0...horizon` at which two discs touch, or nil if they do not.
  /// `distance` is the sum of the radii, `relative` returns the relative position and velocity at a
  /// given time, and `acceleration` is an upper bound on the relative acceleration.
  @inline(__always)
  static func first(
    distance: Double, acceleration: Double, horizon: Double,
    relative: (Double) -> (offset: Vector, velocity: Vector)
  ) -> Double? {
    var time = 0.0
    for _ in 0..<iterationLimit {
      let (offset, velocity) = relative(time)
      let length = offset.length
      let gap = length - distance
      let speed = offset.dot(velocity) / length
      if gap <= touching, speed <= -RestingContact.speedTolerance { return time }
      var step = safeStep(gap: max(gap, 0), speed: speed, acceleration: acceleration)
      if gap <= RestingContact.gapTolerance, speed > -RestingContact.speedTolerance {
        step = max(step, restingStep * horizon)
      }
      guard time + step <= horizon else { return nil }
      if time + step == time { return time }
      time += step
    }
    return nil
  }

  /// Returns the time t at which the lower bound on the gap, gap + speed · t - acceleration · t²/2,
  /// falls below 0, or infinity if it never does.
  @inline(__always)
  private static func safeStep(gap: Double, speed: Double, acceleration: Double) -> Double {
    let root = (speed * speed + 2 * acceleration * gap).squareRoot()
    if speed < 0 { return 2 * gap / (root - speed) }
    return acceleration == 0 ? .infinity : (speed + root) / acceleration
  }
}
