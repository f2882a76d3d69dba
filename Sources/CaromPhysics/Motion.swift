/// Where a disc is and how it moves: all that changes of a disc without rail friction, 32 bytes.
public struct Motion: Hashable, Sendable {
  /// The centre, metres.
  public var position: Vector
  /// Metres a second.
  public var velocity: Vector

  /// A motion; at rest by default.
  @inlinable public init(position: Vector, velocity: Vector = .zero) {
    self.position = position
    self.velocity = velocity
  }
}
