/// A point or a velocity in the plane of the table, metres or metres a second.
public struct Vector: Hashable, Sendable {
  /// Along the table, from goal to goal.
  public var x: Double
  /// Across the table.
  public var y: Double

  /// The vector of these two parts.
  @inlinable public init(_ x: Double, _ y: Double) {
    self.x = x
    self.y = y
  }

  /// The origin.
  @inlinable public static var zero: Vector { Vector(0, 0) }

  /// The scalar product.
  @inlinable public func dot(_ other: Vector) -> Double { x * other.x + y * other.y }

  /// The third component of the cross product; positive when `other` lies to the left.
  @inlinable public func cross(_ other: Vector) -> Double { x * other.y - y * other.x }

  /// The length squared.
  @inlinable public var lengthSquared: Double { x * x + y * y }

  /// The length.
  @inlinable public var length: Double { lengthSquared.squareRoot() }

  /// The vector of length 1 in the same direction; the length must not be 0.
  @inlinable public var normalized: Vector { self * (1 / length) }

  /// The vector turned a quarter to the left.
  @inlinable public var perpendicular: Vector { Vector(-y, x) }

  /// The same vector scaled down to `limit` where it is longer.
  @inlinable public func limited(to limit: Double) -> Vector {
    let squared = lengthSquared
    guard squared > limit * limit else { return self }
    return self * (limit / squared.squareRoot())
  }

  /// Adds part by part.
  @inlinable public static func + (a: Vector, b: Vector) -> Vector { Vector(a.x + b.x, a.y + b.y) }

  /// Subtracts part by part.
  @inlinable public static func - (a: Vector, b: Vector) -> Vector { Vector(a.x - b.x, a.y - b.y) }

  /// The opposite.
  @inlinable public static prefix func - (a: Vector) -> Vector { Vector(-a.x, -a.y) }

  /// Scales.
  @inlinable public static func * (a: Vector, factor: Double) -> Vector {
    Vector(a.x * factor, a.y * factor)
  }

  /// Adds in place.
  @inlinable public static func += (a: inout Vector, b: Vector) { a = a + b }

  /// Subtracts in place.
  @inlinable public static func -= (a: inout Vector, b: Vector) { a = a - b }
}
