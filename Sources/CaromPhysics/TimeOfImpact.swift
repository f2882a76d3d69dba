/// When moving shapes first touch: the smallest t >= 0 at which a gap becomes 0 while closing.
public enum TimeOfImpact {
  /// When a centre at `offset` from another, moving at `velocity` relative to it, comes within
  /// `distance`; 0 where they overlap and close, nil where they never meet while closing.
  ///
  /// The discriminant is taken from the cross product, which keeps its digits at grazing hits.
  @inlinable public static func circles(
    offset: Vector, velocity: Vector, distance: Double
  ) -> Double? {
    let closing = offset.dot(velocity)
    guard closing < 0 else { return nil }
    let gap = offset.lengthSquared - distance * distance
    guard gap > 0 else { return 0 }
    let cross = offset.cross(velocity)
    let discriminant = velocity.lengthSquared * distance * distance - cross * cross
    guard discriminant >= 0 else { return nil }
    return gap / (discriminant.squareRoot() - closing)
  }

  /// Which part of a segment a circle touched.
  public enum Feature: Hashable, Sendable {
    /// Between the ends.
    case segment
    /// The first end.
    case start
    /// The second end.
    case end
  }

  /// A contact of a circle and a segment.
  public struct SegmentContact: Hashable, Sendable {
    /// Seconds from now.
    public var time: Double
    /// What was touched.
    public var feature: Feature
    /// Unit vector from the segment to the circle's centre.
    public var normal: Vector
    /// The circle's centre at the contact.
    public var position: Vector
  }

  /// When a circle of `radius` at `position` meets the segment from `a` to `b`, from either side.
  public static func circleSegment(
    position: Vector, velocity: Vector, radius: Double, from a: Vector, to b: Vector
  ) -> SegmentContact? {
    let side = side(position: position, velocity: velocity, radius: radius, from: a, to: b)
    let start = end(
      .start, at: a, position: position, velocity: velocity, radius: radius, before: side)
    return end(.end, at: b, position: position, velocity: velocity, radius: radius, before: start)
  }

  /// The contact with an end of the segment where it comes before `other`, otherwise `other`.
  private static func end(
    _ feature: Feature, at corner: Vector, position: Vector, velocity: Vector, radius: Double,
    before other: SegmentContact?
  ) -> SegmentContact? {
    let offset = position - corner
    guard let time = circles(offset: offset, velocity: velocity, distance: radius),
      time < other?.time ?? .infinity
    else { return other }
    let centre = position + velocity * time
    let normal = centre - corner
    let length = normal.length
    return SegmentContact(
      time: time, feature: feature, normal: length > 0 ? normal * (1 / length) : .zero,
      position: centre)
  }

  /// The contact with the segment's inside alone.
  private static func side(
    position: Vector, velocity: Vector, radius: Double, from a: Vector, to b: Vector
  ) -> SegmentContact? {
    let along = b - a
    let length = along.length
    guard length > 0 else { return nil }
    let direction = along * (1 / length)
    var normal = direction.perpendicular
    if (position - a).dot(normal) < 0 { normal = -normal }
    let closing = velocity.dot(normal)
    guard closing < 0 else { return nil }
    let time = max(0, ((position - a).dot(normal) - radius) / -closing)
    let centre = position + velocity * time
    let place = (centre - a).dot(direction)
    guard place >= 0, place <= length else { return nil }
    return SegmentContact(time: time, feature: .segment, normal: normal, position: centre)
  }
}
