/// The state of a disc during one step of a `SceneSolver`.
struct Body {
  enum Role: UInt8 {
    /// A disc of finite mass, which contacts deflect.
    case dynamic
    /// A disc of infinite mass. Contacts do not deflect it, but a pinned disc stops it.
    case kinematic
    /// A dynamic disc that had too many contacts. It rests for the remainder of the step and acts
    /// as a wall.
    case pinned
  }

  /// The body's center at the clock reading `clock`, in meters.
  var position: Vector
  /// The velocity in meters per unit of the step's clock if the body's velocity is constant in that
  /// clock, otherwise in meters per second.
  var velocity: Vector
  /// The clock reading at the body's last deflection, or 0 if it has not been deflected in this
  /// step.
  var clock: Double
  var radius: Double
  var inverseMass: Double
  var id: Int32
  /// The number of times the body has been deflected or stopped in this step.
  var stamp: Int32 = 0
  var role: Role
  /// Whether the body may move farther in this step than `SceneSolver.ordinaryReach`.
  var isFast = false

  /// Returns the center at the clock reading `later`, which must not be before the body's own
  /// clock. The body must have a constant velocity in that clock.
  @inline(__always)
  func straightPosition(at later: Double) -> Vector { position + velocity * (later - clock) }
}
