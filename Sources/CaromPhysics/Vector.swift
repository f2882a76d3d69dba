/// A two-dimensional vector in the plane of the table.
public struct Vector: Hashable, Sendable {
  /// The component along the table, from goal to goal.
  public var x: Double
  /// The component across the table.
  public var y: Double

  /// Creates a vector from its components.
  @inlinable public init(_ x: Double, _ y: Double) {
    self.x = x
    self.y = y
  }

  /// The zero vector.
  @inlinable public static var zero: Vector { Vector(0, 0) }

  /// Returns the dot product of two vectors.
  @inlinable public func dot(_ other: Vector) -> Double { x * other.x + y * other.y }

  /// Returns the z component of the cross product. The result is positive if `other` points to the
  /// left of this vector.
  @inlinable public func cross(_ other: Vector) -> Double { x * other.y - y * other.x }

  /// The square of the vector's length.
  @inlinable public var lengthSquared: Double { x * x + y * y }

  /// The vector's Euclidean length.
  @inlinable public var length: Double { lengthSquared.squareRoot() }

  /// The unit vector in the same direction. The vector's length must not be 0.
  @inlinable public var normalized: Vector { self * (1 / length) }

  /// The vector rotated by 90° counter-clockwise.
  @inlinable public var perpendicular: Vector { Vector(-y, x) }

  /// Returns the vector, scaled down to the length `limit` if it is longer than that.
  @inlinable public func limited(to limit: Double) -> Vector {
    let squared = lengthSquared
    guard squared > limit * limit else { return self }
    return self * (limit / squared.squareRoot())
  }

  /// Returns the sum of two vectors.
  @inlinable public static func + (a: Vector, b: Vector) -> Vector { Vector(a.x + b.x, a.y + b.y) }

  /// Returns the difference of two vectors.
  @inlinable public static func - (a: Vector, b: Vector) -> Vector { Vector(a.x - b.x, a.y - b.y) }

  /// Returns the vector with both components negated.
  @inlinable public static prefix func - (a: Vector) -> Vector { Vector(-a.x, -a.y) }

  /// Returns the vector multiplied by a number.
  @inlinable public static func * (a: Vector, factor: Double) -> Vector {
    Vector(a.x * factor, a.y * factor)
  }

  /// Adds `b` to `a` in place.
  @inlinable public static func += (a: inout Vector, b: Vector) { a = a + b }

  /// Subtracts `b` from `a` in place.
  @inlinable public static func -= (a: inout Vector, b: Vector) { a = a - b }
}
