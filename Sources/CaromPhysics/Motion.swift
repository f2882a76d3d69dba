/// The position and velocity of a disc. Without rail friction, a disc has no other state that
/// changes.
public struct Motion: Hashable, Sendable {
  /// The position of the center, in meters.
  public var position: Vector
  /// The velocity, in meters per second.
  public var velocity: Vector

  /// Creates a motion, by default at rest.
  @inlinable public init(position: Vector, velocity: Vector = .zero) {
    self.position = position
    self.velocity = velocity
  }
}
