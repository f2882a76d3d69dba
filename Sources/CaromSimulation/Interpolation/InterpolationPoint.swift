/// A moving point to draw, interpolated along a cubic curve that follows its velocities.
public struct InterpolationPoint: Hashable, Sendable, Interpolatable {
  /// The first coordinate, in any unit of length.
  public var x: Double
  /// The second coordinate, in any unit of length.
  public var y: Double
  /// The velocity along `x`, in units of `x` per second.
  public var velocityX: Double
  /// The velocity along `y`, in units of `y` per second.
  public var velocityY: Double

  /// Creates a moving point.
  public init(x: Double, y: Double, velocityX: Double, velocityY: Double) {
    self.x = x
    self.y = y
    self.velocityX = velocityX
    self.velocityY = velocityY
  }

  /// Interpolates the position along the cubic Hermite curve and the velocity linearly.
  public static func between(
    _ a: InterpolationPoint, _ b: InterpolationPoint, fraction: Double, interval: Double
  ) -> InterpolationPoint {
    InterpolationPoint(
      x: InterpolationCurve.hermite(
        a.x, slope: a.velocityX, b.x, slope: b.velocityX, interval: interval, fraction: fraction),
      y: InterpolationCurve.hermite(
        a.y, slope: a.velocityY, b.y, slope: b.velocityY, interval: interval, fraction: fraction),
      velocityX: InterpolationCurve.linear(a.velocityX, b.velocityX, fraction: fraction),
      velocityY: InterpolationCurve.linear(a.velocityY, b.velocityY, fraction: fraction))
  }
}

/// Interpolation curves between two samples.
public enum InterpolationCurve {
  /// Interpolates linearly from `a` to `b`. `fraction` is from 0 to 1.
  @inlinable public static func linear(_ a: Double, _ b: Double, fraction: Double) -> Double {
    a * (1 - fraction) + b * fraction
  }

  /// Interpolates with the cubic Hermite curve through both values and slopes. `interval` is the
  /// time from `a` to `b` in seconds, the slopes `m` and `n` are per second, and the fraction `u`
  /// is from 0 to 1. Prefer `linear` for objects that bounce between samples.
  @inlinable public static func hermite(
    _ a: Double, slope m: Double, _ b: Double, slope n: Double, interval: Double, fraction u: Double
  ) -> Double {
    let rest = 1 - u
    let rising = u * u * (3 - 2 * u)
    return a * (1 - rising) + b * rising + interval * u * rest * (m * rest - n * u)
  }
}
