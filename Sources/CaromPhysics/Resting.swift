/// Contacts that last: two discs that touch and neither part nor press.
///
/// Rounding leaves closing speeds of some 1e-16 m/s after an impact without restitution, or
/// between discs that touched before; they are no impacts.
enum Resting {
  /// Closing slower than this where two discs touch is rest, metres a second.
  static let speed = 1e-12
  /// Nearer than this two discs touch, metres.
  static let gap = 1e-12

  /// Whether discs at `offset` touch without pressing; `closing` is offset times velocity, `gap`
  /// the distance squared less the touching distance squared.
  @inline(__always)
  static func holds(gap: Double, closing: Double, distance: Double) -> Bool {
    closing > -speed * distance && gap < 2 * self.gap * distance
  }
}
