/// The state of the puck. All values are integer multiples of 2^-32 m, m/s or rad/s.
public struct PuckState: Hashable, Sendable {
  /// The position of the puck's center, in units of 2^-32 m.
  public var position: LatticePoint
  /// The velocity of the puck's center, in units of 2^-32 m/s.
  public var velocity: LatticePoint
  /// The angular velocity, in units of 2^-32 rad/s. Counterclockwise is positive.
  public var spin: Int64

  /// Creates the state of a puck, which is at rest by default.
  public init(position: LatticePoint, velocity: LatticePoint = .zero, spin: Int64 = 0) {
    self.position = position
    self.velocity = velocity
    self.spin = spin
  }

  /// This state rotated by half a turn around the center of the table, which leaves the spin
  /// unchanged.
  public var mirrored: PuckState {
    PuckState(position: position.mirrored, velocity: velocity.mirrored, spin: spin)
  }
}
