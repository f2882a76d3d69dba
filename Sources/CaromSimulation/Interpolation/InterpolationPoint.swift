/// A point that moves, for drawing: on the cubic that has its velocities.
public struct InterpolationPoint: Hashable, Sendable, Interpolatable {
  /// Where it is.
  public var x: Double
  /// Where it is, across.
  public var y: Double
  /// Per second.
  public var velocityX: Double
  /// Per second, across.
  public var velocityY: Double

  /// A moving point.
  public init(x: Double, y: Double, velocityX: Double, velocityY: Double) {
    self.x = x
    self.y = y
    self.velocityX = velocityX
    self.velocityY = velocityY
  }

  /// On the cubic between both, and with its slope's mixture.
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
