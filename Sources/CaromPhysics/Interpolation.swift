/// Interpolation of positions between two ticks, for rendering.
public enum Interpolation {
  /// Interpolates linearly from `p0` to `p1`. `fraction` is from 0 to 1.
  public static func linear(_ p0: Vector, _ p1: Vector, fraction: Double) -> Vector {
    p0 * (1 - fraction) + p1 * fraction
  }

  /// Interpolates with the cubic Hermite spline that matches both positions and both velocities.
  /// `interval` is the length of the tick in seconds; the fraction `u` is from 0 to 1.
  public static func hermite(
    _ p0: Vector, _ v0: Vector, _ p1: Vector, _ v1: Vector, interval: Double, fraction u: Double
  ) -> (position: Vector, velocity: Vector) {
    let rest = 1 - u
    let rising = u * u * (3 - 2 * u)
    let position =
      p0 * (1 - rising) + p1 * rising
      + v0 * (interval * u * rest * rest) - v1 * (interval * u * u * rest)
    let velocity =
      (p1 - p0) * (6 * u * rest / interval)
      + v0 * (rest * (1 - 3 * u)) + v1 * (u * (3 * u - 2))
    return (position, velocity)
  }
}
