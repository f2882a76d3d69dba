/// Ways from one sample to the next.
public enum InterpolationCurve {
  /// The straight line; `fraction` runs from 0 to 1.
  @inlinable public static func linear(_ a: Double, _ b: Double, fraction: Double) -> Double {
    a * (1 - fraction) + b * fraction
  }

  /// The cubic that has both values and both slopes; `interval` is the seconds from `a` to `b`, and
  /// slopes are per second. What bounces between two samples looks better on the straight line.
  @inlinable public static func hermite(
    _ a: Double, slope m: Double, _ b: Double, slope n: Double, interval: Double, fraction u: Double
  ) -> Double {
    let rest = 1 - u
    let rising = u * u * (3 - 2 * u)
    return a * (1 - rising) + b * rising + interval * u * rest * (m * rest - n * u)
  }
}
