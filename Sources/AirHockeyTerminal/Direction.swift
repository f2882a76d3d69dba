import CaromPhysics

/// A direction in which keys push a mallet, as seen on the screen.
package enum Direction: Int, Hashable, Sendable, CaseIterable {
  case up, down, left, right

  /// The unit vector in this direction, with y pointing up.
  var vector: Vector {
    switch self {
    case .up: Vector(0, 1)
    case .down: Vector(0, -1)
    case .left: Vector(-1, 0)
    case .right: Vector(1, 0)
    }
  }

  var opposite: Direction {
    switch self {
    case .up: .down
    case .down: .up
    case .left: .right
    case .right: .left
    }
  }
}
