/// Rounding to a fixed-point lattice, the multiples of 2^-32.
///
/// A game that rounds its state to the lattice at the end of each tick can represent the state
/// exactly as integers, so that hashes, saved states, packets and replays agree bit for bit.
public enum Lattice {
  /// The spacing of the lattice: 2^-32 (0.23 nanometers if the unit is a meter).
  public static let step = 0x1p-32

  /// The maximum magnitude of a value that can be rounded: 2^18.
  public static let limit = 0x1p18

  /// Returns the number of lattice steps nearest to `value`, with ties rounded to even. `value`
  /// must be finite and at most `limit` in magnitude.
  ///
  /// Adding 1.5 × 2^52 leaves the rounded integer in the low bits of the significand, so that no
  /// library call is needed.
  @inlinable public static func units(_ value: Double) -> Int64 {
    precondition(value.magnitude <= limit, "a lattice value must be finite and at most 2^18")
    let shifted = value * 0x1p32 + 0x1.8p52
    return Int64(bitPattern: shifted.bitPattern) &- Int64(bitPattern: (0x1.8p52).bitPattern)
  }

  /// Returns the value of `units` lattice steps. The value is exact for fewer than 2^53 steps.
  @inlinable public static func value(_ units: Int64) -> Double { Double(units) * step }

  /// Returns the lattice value nearest to `value`. The result is never negative zero.
  @inlinable public static func rounded(_ value: Double) -> Double { self.value(units(value)) }

  /// Returns the vector with both components rounded to the lattice.
  @inlinable public static func rounded(_ vector: Vector) -> Vector {
    Vector(rounded(vector.x), rounded(vector.y))
  }
}
