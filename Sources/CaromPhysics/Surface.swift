/// The material of a table and its discs: restitution, friction and damping.
public struct Surface: Hashable, Sendable {
  /// The coefficient of restitution at rails and posts, 0 to 1.
  public var railRestitution: Double
  /// The coefficient of restitution between discs, 0 to 1.
  public var discRestitution: Double
  /// The coefficient of friction at rails and posts. Friction changes the spin of a disc.
  public var railFriction: Double
  /// The damping of the discs between contacts.
  public var damping: Damping

  /// Creates a surface, by default without any loss of energy.
  public init(
    railRestitution: Double = 1, discRestitution: Double = 1, railFriction: Double = 0,
    damping: Damping = Damping()
  ) {
    self.railRestitution = railRestitution
    self.discRestitution = discRestitution
    self.railFriction = railFriction
    self.damping = damping
  }
}
