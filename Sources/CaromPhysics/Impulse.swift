/// Instantaneous changes to velocities at contacts.
public enum Impulse {
  /// Returns the velocities of two discs at `p1` and `p2` after their collision, with an impulse
  /// along n = (p1 - p2)/|p1 - p2|. The velocities are unchanged if the discs do not approach each
  /// other. An inverse mass of 0 stands for a kinematic disc.
  @inlinable public static func betweenDiscs(
    _ p1: Vector, _ v1: Vector, inverseMass m1: Double,
    _ p2: Vector, _ v2: Vector, inverseMass m2: Double, restitution: Double
  ) -> (v1: Vector, v2: Vector) {
    let offset = p1 - p2
    let closing = (v1 - v2).dot(offset)
    guard closing < 0, m1 + m2 > 0 else { return (v1, v2) }
    let scale = (1 + restitution) * closing / (offset.lengthSquared * (m1 + m2))
    return (v1 - offset * (scale * m1), v2 + offset * (scale * m2))
  }

  /// Returns the velocity of a disc after it hits a rail or post, without friction. `normal` is the
  /// unit normal that points away from the rail or post.
  @inlinable public static func atRail(
    _ velocity: Vector, normal: Vector, restitution: Double
  ) -> Vector {
    let closing = velocity.dot(normal)
    guard closing < 0 else { return velocity }
    return velocity - normal * ((1 + restitution) * closing)
  }

  /// The motion of a disc after a contact with friction at a rail or post.
  public struct RailContact: Hashable, Sendable {
    /// The velocity, in meters per second.
    public var velocity: Vector
    /// The angular velocity, in radians per second, counter-clockwise.
    public var spin: Double
    /// Whether the disc's rim slid along the rail throughout the contact. If false, friction
    /// stopped the sliding.
    public var slips: Bool
  }

  /// Returns the motion of a solid disc (I = m r² / 2) after it hits a rail or post with Coulomb
  /// friction and no tangential restitution (Routh's model). `friction` is the maximum ratio of the
  /// tangential to the normal impulse.
  public static func atRail(
    _ velocity: Vector, spin: Double, radius: Double, normal: Vector, restitution: Double,
    friction: Double
  ) -> RailContact {
    let closing = velocity.dot(normal)
    guard closing < 0 else { return RailContact(velocity: velocity, spin: spin, slips: false) }
    let tangent = normal.perpendicular
    let slide = slideSpeed(velocity, spin: spin, radius: radius, normal: normal)
    let limit = friction * (1 + restitution) * -closing
    let sticking = -slide / 3
    let slips = sticking.magnitude > limit
    let change = slips ? (sticking < 0 ? -limit : limit) : sticking
    let bounced = velocity - normal * ((1 + restitution) * closing)
    return RailContact(
      velocity: bounced + tangent * change, spin: spin - 2 * change / radius, slips: slips)
  }

  /// Returns the speed at which a disc's rim slides along a rail with unit normal `normal`, at the
  /// point of contact, in meters per second.
  public static func slideSpeed(
    _ velocity: Vector, spin: Double, radius: Double, normal: Vector
  ) -> Double {
    velocity.dot(normal.perpendicular) - spin * radius
  }
}
