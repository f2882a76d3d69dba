/// Instant changes of velocity at contacts.
public enum Impulse {
  /// Velocities after two discs of positions `p1` and `p2` meet, along n = (p1 - p2)/|p1 - p2|;
  /// unchanged where they do not close. An inverse mass of 0 is a kinematic disc.
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

  /// The velocity after a disc meets a rail or post of inward unit normal `normal`.
  @inlinable public static func atRail(
    _ velocity: Vector, normal: Vector, restitution: Double
  ) -> Vector {
    let closing = velocity.dot(normal)
    guard closing < 0 else { return velocity }
    return velocity - normal * ((1 + restitution) * closing)
  }

  /// What friction at a rail leaves: velocity, spin, and whether the contact slid throughout.
  public struct RailContact: Hashable, Sendable {
    /// Metres a second.
    public var velocity: Vector
    /// Radians a second.
    public var spin: Double
    /// Whether friction was at its limit; otherwise the contact point came to rest.
    public var slips: Bool
  }

  /// A rail with Routh/Coulomb friction and no tangential restitution, for a solid disc
  /// (I = m r^2 / 2). `friction` bounds the tangential impulse by its ratio to the normal one.
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

  /// How fast a disc's rim slides along a rail of inward normal `normal` at the contact.
  public static func slideSpeed(
    _ velocity: Vector, spin: Double, radius: Double, normal: Vector
  ) -> Double {
    velocity.dot(normal.perpendicular) - spin * radius
  }
}
