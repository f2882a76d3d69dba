/// A disc as a solver works on it during one step.
struct Body {
  enum Role: UInt8 {
    /// Contacts deflect it.
    case dynamic
    /// Nothing deflects it; only a pinned disc stops it.
    case kinematic
    /// Stopped for the rest of the step, like a wall.
    case pinned
  }

  /// The centre at `clock`.
  var position: Vector
  /// In the step's clock where it moves straight in that, otherwise a second.
  var velocity: Vector
  /// When it was deflected last.
  var clock: Double
  var radius: Double
  var inverseMass: Double
  var id: Int32
  /// How often it was deflected or stopped in this step.
  var stamp: Int32 = 0
  var role: Role
  /// Whether it may leave the reach that the grid assumes.
  var isFast = false

  /// The centre at a later clock, for a body that moves straight in it.
  @inline(__always)
  func straight(at later: Double) -> Vector { position + velocity * (later - clock) }
}
