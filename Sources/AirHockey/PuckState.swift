/// The puck, in whole steps of 2^-32.
public struct PuckState: Hashable, Sendable {
  /// The centre.
  public var position: LatticePoint
  /// Per second.
  public var velocity: LatticePoint
  /// Radians a second, counter-clockwise positive.
  public var spin: Int64

  /// A puck; at rest by default.
  public init(position: LatticePoint, velocity: LatticePoint = .zero, spin: Int64 = 0) {
    self.position = position
    self.velocity = velocity
    self.spin = spin
  }

  /// Turned half around the table's centre; a spin stays as it is.
  public var mirrored: PuckState {
    PuckState(position: position.mirrored, velocity: velocity.mirrored, spin: spin)
  }
}
