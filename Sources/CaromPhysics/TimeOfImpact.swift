/// Times of impact: the smallest t >= 0 at which moving shapes touch while they approach each
/// other.
public enum TimeOfImpact {
  /// Returns the time at which two circles touch. Their centers have the relative position `offset`
  /// and the relative velocity `velocity`, and their radii add up to `distance`. Returns 0 if they
  /// overlap and approach each other, and nil if they never touch while approaching.
  ///
  /// The discriminant is computed from the cross product, which avoids cancellation at grazing
  /// hits.
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

  /// The part of a segment that a circle touched.
  public enum Feature: Hashable, Sendable {
    /// The interior of the segment.
    case segment
    /// The start of the segment.
    case start
    /// The end of the segment.
    case end
  }

  /// A contact of a circle with a segment.
  public struct SegmentContact: Hashable, Sendable {
    /// The time until the contact, in seconds.
    public var time: Double
    /// The part of the segment that is touched.
    public var feature: Feature
    /// The unit vector from the point of contact to the circle's center.
    public var normal: Vector
    /// The circle's center at the time of the contact.
    public var position: Vector
  }

  /// Returns the first contact of a moving circle with either side or an end of the segment from
  /// `a` to `b`, or nil if the circle does not touch the segment.
  public static func circleSegment(
    position: Vector, velocity: Vector, radius: Double, from a: Vector, to b: Vector
  ) -> SegmentContact? {
    let side = side(position: position, velocity: velocity, radius: radius, from: a, to: b)
    let start = end(
      .start, at: a, position: position, velocity: velocity, radius: radius, before: side)
    return end(.end, at: b, position: position, velocity: velocity, radius: radius, before: start)
  }

  /// Returns the circle's contact with one end of the segment if it is earlier than `other`, and
  /// otherwise returns `other`.
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

  /// Returns a moving circle's contact with the interior of the segment from `a` to `b`, or nil if
  /// there is none.
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
