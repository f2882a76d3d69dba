/// What can be drawn between two samples of it.
public protocol Interpolatable: Sendable {
  /// The value a `fraction` of the way from `a` to `b`, 0 to 1; `interval` is the seconds between
  /// them. Use `InterpolationCurve` for each coordinate.
  static func between(_ a: Self, _ b: Self, fraction: Double, interval: Double) -> Self
}
