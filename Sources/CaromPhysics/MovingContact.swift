/// First contacts of bodies that do not move straight in the same clock: an iteration that never
/// steps past a contact.
///
/// From a state with gap g and radial speed c, whose relative acceleration is at most A, the gap
/// after t is at least g + ct - At^2/2. Stepping to that bound's root is Newton's method on a
/// convex function for straight motion, so it converges fast, and it is safe for any other.
enum MovingContact {
  /// Below this gap two discs are in contact, metres.
  private static let touching = 1e-14
  /// Grazing ways converge linearly, halving the gap's root each time: this is far past them.
  private static let iterationLimit = 200
  /// Discs that rest at each other may press again after this share of the horizon.
  private static let restShare = 1.0 / 16

  /// The first time in `0...horizon` at which the gap closes; `relative` gives offset and
  /// velocity at a time, `acceleration` bounds the relative acceleration throughout.
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
      if gap <= touching, speed <= -Resting.speed { return time }
      var step = safeStep(gap: max(gap, 0), speed: speed, acceleration: acceleration)
      if gap <= Resting.gap, speed > -Resting.speed { step = max(step, restShare * horizon) }
      guard time + step <= horizon else { return nil }
      if time + step == time { return time }
      time += step
    }
    return nil
  }

  /// The positive root of g + ct - At^2/2.
  @inline(__always)
  private static func safeStep(gap: Double, speed: Double, acceleration: Double) -> Double {
    let root = (speed * speed + 2 * acceleration * gap).squareRoot()
    if speed < 0 { return 2 * gap / (root - speed) }
    return acceleration == 0 ? .infinity : (speed + root) / acceleration
  }
}
