import CaromPhysics

/// A position or velocity in the game's state, as integer multiples of 2^-32 m or m/s, so that the
/// state is identical on every machine.
public struct LatticePoint: Hashable, Sendable {
  /// The coordinate along the table, in units of 2^-32 m or m/s.
  public var x: Int64
  /// The coordinate across the table, in units of 2^-32 m or m/s.
  public var y: Int64

  /// Creates a point from its coordinates in units of 2^-32 m or m/s.
  public init(x: Int64, y: Int64) {
    self.x = x
    self.y = y
  }

  /// Creates the point nearest to `vector`, which is in meters or meters per second.
  public init(_ vector: Vector) {
    self.init(x: Lattice.units(vector.x), y: Lattice.units(vector.y))
  }

  /// The point (0, 0): the center of the table, or no velocity.
  public static let zero = LatticePoint(x: 0, y: 0)

  /// This point in meters or meters per second. The conversion is exact.
  public var vector: Vector { Vector(Lattice.value(x), Lattice.value(y)) }

  /// This point rotated by half a turn around the center of the table.
  public var mirrored: LatticePoint { LatticePoint(x: -x, y: -y) }
}
