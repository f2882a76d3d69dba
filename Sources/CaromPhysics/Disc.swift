/// A disc on the table: dynamic, or kinematic, which moves as it is told and has infinite mass.
public struct Disc: Hashable, Sendable {
  /// The centre, metres.
  public var position: Vector
  /// Metres a second.
  public var velocity: Vector
  /// Radians a second, counter-clockwise positive; only rail friction reads and changes it.
  public var spin: Double
  /// Metres.
  public var radius: Double
  /// One over the mass, 1/kg; 0 makes the disc kinematic.
  public var inverseMass: Double

  /// Whether the disc keeps its velocity whatever it meets.
  @inlinable public var isKinematic: Bool { inverseMass == 0 }

  /// A disc of `mass` kilograms, or a kinematic one where `mass` is nil.
  public init(
    position: Vector, velocity: Vector = .zero, spin: Double = 0, radius: Double, mass: Double?
  ) {
    precondition(radius > 0, "a disc has a radius")
    self.position = position
    self.velocity = velocity
    self.spin = spin
    self.radius = radius
    inverseMass = mass.map { 1 / $0 } ?? 0
  }
}
