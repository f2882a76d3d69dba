/// Interpolation curves between two samples.
public enum InterpolationCurve {
  /// Interpolates linearly; `fraction` is from 0 to 1.
  @inlinable public static func linear(_ a: Double, _ b: Double, fraction: Double) -> Double {
    a * (1 - fraction) + b * fraction
  }

  /// Interpolates with the cubic Hermite curve through both values and slopes. `interval` is the
  /// time from `a` to `b` in seconds, and slopes are per second. Prefer `linear` for objects that
  /// bounce between samples.
  @inlinable public static func hermite(
    _ a: Double, slope m: Double, _ b: Double, slope n: Double, interval: Double, fraction u: Double
  ) -> Double {
    let rest = 1 - u
    let rising = u * u * (3 - 2 * u)
    return a * (1 - rising) + b * rising + interval * u * rest * (m * rest - n * u)
  }
}
