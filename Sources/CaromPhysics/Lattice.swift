/// The lattice of whole multiples of 2^-32 on which a game's state lies at the end of each tick,
/// so that the state is an exact integer: hash, save, wire and replay are the same bits.
public enum Lattice {
  /// One step of the lattice: 2^-32 (0.23 nanometres where the unit is a metre).
  public static let step = 0x1p-32

  /// The largest magnitude that can be rounded: 2^18.
  public static let limit = 0x1p18

  /// The nearest lattice point as a count of steps, ties to even.
  ///
  /// Adding 1.5 * 2^52 leaves the rounded integer in the low bits of the significand: one
  /// addition and no library call. `value` must be finite and within `limit`.
  @inlinable public static func units(_ value: Double) -> Int64 {
    precondition(value.magnitude <= limit, "a lattice value is finite and at most 2^18")
    let shifted = value * 0x1p32 + 0x1.8p52
    return Int64(bitPattern: shifted.bitPattern) &- Int64(bitPattern: (0x1.8p52).bitPattern)
  }

  /// The value of a count of steps; exact for counts under 2^53.
  @inlinable public static func value(_ units: Int64) -> Double { Double(units) * step }

  /// The nearest lattice value; never negative zero.
  @inlinable public static func rounded(_ value: Double) -> Double { self.value(units(value)) }

  /// The nearest lattice vector.
  @inlinable public static func rounded(_ vector: Vector) -> Vector {
    Vector(rounded(vector.x), rounded(vector.y))
  }
}
