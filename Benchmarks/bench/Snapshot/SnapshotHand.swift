import CaromPhysics

/// A simulated human hand that steers a mallet: eight or nine quick movements a second, each with
/// minimal jerk, about 7 cm along each axis, and attracted to the puck's y.
struct SnapshotHand {
  /// The side of the table: -1 or 1.
  let side: Double
  private var curve: BellCurve
  private var start: Vector
  private var end: Vector
  private var began = 0.0
  private var length = 0.1

  init(side: Double, seed: UInt64) {
    self.side = side
    curve = BellCurve(seed: seed)
    start = Vector(0.7 * side, 0)
    end = start
  }

  /// Returns the position of the mallet at a time in seconds, which must not decrease from call to
  /// call.
  mutating func place(at time: Double, puck: Vector) -> Vector {
    while time >= began + length { move(puck) }
    let s = (time - began) / length
    let progress = s * s * s * (10 + s * (6 * s - 15))
    return start + (end - start) * progress
  }

  private mutating func move(_ puck: Vector) {
    began += length
    length = 0.075 + 0.085 * curve.even()
    start = end
    let home = Vector(0.7 * side, 0.7 * puck.y)
    let drawn = (home - start) * 0.15
    let target = start + drawn + Vector(0.067 * curve.draw(), 0.067 * curve.draw())
    end = Vector(
      min(max(target.x * side, 0.05), 0.92) * side, min(max(target.y, -0.47), 0.47))
  }
}
