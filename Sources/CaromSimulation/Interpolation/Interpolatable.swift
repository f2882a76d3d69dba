/// A value that can be interpolated between two samples for drawing.
public protocol Interpolatable: Sendable {
  /// The value a `fraction` of the way from `a` to `b`, from 0 to 1. `interval` is the time between
  /// the two samples in seconds. Use `InterpolationCurve` for each coordinate.
  static func between(_ a: Self, _ b: Self, fraction: Double, interval: Double) -> Self
}
