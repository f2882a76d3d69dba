/// A rectangular table centered at (0, 0), with a goal mouth in the middle of each short side.
///
/// The rails lie at y = ±`halfWidth` and, outside the goal mouths, at x = ±`halfLength`. The goal
/// posts are the four points (±`halfLength`, ±`goalHalfWidth`).
public struct Table: Hashable, Sendable {
  /// The distance from the center to a goal line, in meters.
  public var halfLength: Double
  /// The distance from the center to a long rail, in meters.
  public var halfWidth: Double
  /// The distance from the middle of a goal mouth to a post, in meters, or 0 for a table without
  /// goals.
  public var goalHalfWidth: Double

  /// Creates a table from half of its length, width and goal width, in meters.
  public init(halfLength: Double, halfWidth: Double, goalHalfWidth: Double = 0) {
    precondition(goalHalfWidth >= 0 && goalHalfWidth <= halfWidth, "a goal must fit in its side")
    self.halfLength = halfLength
    self.halfWidth = halfWidth
    self.goalHalfWidth = goalHalfWidth
  }
}
