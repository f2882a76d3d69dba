import CaromPhysics

/// A point or velocity of the game's state: whole steps of 2^-32 m (or m/s), so that the state is
/// exact on every machine.
public struct LatticePoint: Hashable, Sendable {
  /// Along the table, steps of 2^-32.
  public var x: Int64
  /// Across the table.
  public var y: Int64

  /// The point of these steps.
  public init(x: Int64, y: Int64) {
    self.x = x
    self.y = y
  }

  /// The nearest point to `vector`.
  public init(_ vector: Vector) {
    self.init(x: Lattice.units(vector.x), y: Lattice.units(vector.y))
  }

  /// The table's centre.
  public static let zero = LatticePoint(x: 0, y: 0)

  /// Metres, or metres a second; exact.
  public var vector: Vector { Vector(Lattice.value(x), Lattice.value(y)) }

  /// Turned half around the table's centre.
  public var mirrored: LatticePoint { LatticePoint(x: -x, y: -y) }
}
