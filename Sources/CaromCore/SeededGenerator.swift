/// A pseudorandom number generator whose sequence depends only on its seed and is the same on
/// every platform (SplitMix64: Steele, Lea and Flood 2014). Not suitable for secrets.
public struct SeededGenerator: RandomNumberGenerator, Hashable, Sendable {
  private var state: UInt64

  /// Creates a generator with the given seed.
  public init(seed: UInt64) { state = seed }

  /// Returns the next 64 pseudorandom bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Returns a new generator, seeded from this one. If each part of a program has a generator of
  /// its own, the numbers drawn by one part do not depend on how many another part draws.
  public mutating func split() -> SeededGenerator { SeededGenerator(seed: next()) }

  /// Returns a uniformly distributed duration in `range`, in whole nanoseconds.
  public mutating func duration(in range: ClosedRange<Duration>) -> Duration {
    let low = range.lowerBound.wholeNanoseconds
    let high = range.upperBound.wholeNanoseconds
    return .nanoseconds(Int64.random(in: low...high, using: &self))
  }

  /// Returns true with the given probability, 0 to 1.
  public mutating func chance(_ probability: Double) -> Bool {
    guard probability > 0 else { return false }
    return Double(next() >> 11) * 0x1p-53 < probability
  }
}
