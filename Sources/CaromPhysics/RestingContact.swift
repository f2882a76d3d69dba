/// The test for resting contacts: two discs that touch without approaching each other.
///
/// After an impact without restitution, rounding leaves a closing speed of about 1e-16 m/s, which
/// must not count as a further impact.
enum RestingContact {
  /// The closing speed, in meters per second, below which touching discs are at rest.
  static let speedTolerance = 1e-12
  /// The gap, in meters, below which two discs touch.
  static let gapTolerance = 1e-12

  /// Returns whether two discs rest against each other.
  ///
  /// - Parameters:
  ///   - gap: The squared distance of the centers minus `distance` squared.
  ///   - closing: The dot product of the relative position and the relative velocity.
  ///   - distance: The sum of the radii.
  @inline(__always)
  static func isResting(gap: Double, closing: Double, distance: Double) -> Bool {
    closing > -speedTolerance * distance && gap < 2 * gapTolerance * distance
  }
}
