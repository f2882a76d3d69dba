import CaromPhysics

/// A hand that steers a mallet as people do: one quick movement after the other, eight or nine a
/// second, each of least jerk, about 7 cm along each axis, drawn to where the puck is.
struct SnapshotHand {
  /// Its side: -1 or 1.
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

  /// Where the mallet is at a time, seconds, never earlier than the last.
  mutating func place(at time: Double, puck: Vector) -> Vector {
    while time >= began + length { move(puck) }
    let s = (time - began) / length
    let way = s * s * s * (10 + s * (6 * s - 15))
    return start + (end - start) * way
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
