/// A disc on the table. A dynamic disc is deflected by contacts; a kinematic disc has infinite mass
/// and keeps the velocity that its owner sets.
public struct Disc: Hashable, Sendable {
  /// The center, in meters.
  public var position: Vector
  /// The velocity, in meters per second.
  public var velocity: Vector
  /// The angular velocity, in radians per second, counter-clockwise. Only friction at rails and
  /// posts changes the spin, and nothing else depends on it.
  public var spin: Double
  /// The radius, in meters.
  public var radius: Double
  /// The reciprocal of the mass, in 1/kg; 0 for a kinematic disc.
  public var inverseMass: Double

  /// Whether the disc is kinematic: contacts do not change its velocity.
  @inlinable public var isKinematic: Bool { inverseMass == 0 }

  /// Creates a disc of `mass` kilograms, or a kinematic disc if `mass` is nil.
  public init(
    position: Vector, velocity: Vector = .zero, spin: Double = 0, radius: Double, mass: Double?
  ) {
    precondition(radius > 0, "a disc's radius must be positive")
    self.position = position
    self.velocity = velocity
    self.spin = spin
    self.radius = radius
    inverseMass = mass.map { 1 / $0 } ?? 0
  }
}
