/// A generator whose whole sequence follows from its seed, the same on every machine
/// (SplitMix64, Steele, Lea and Flood 2014). Not for secrets.
public struct SeededGenerator: RandomNumberGenerator, Hashable, Sendable {
  private var state: UInt64

  /// Begins the sequence of `seed`.
  public init(seed: UInt64) { state = seed }

  /// The next 64 bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A generator of its own for a part of the program, so that one part's draws
  /// do not shift another's.
  public mutating func split() -> SeededGenerator { SeededGenerator(seed: next()) }

  /// A duration drawn evenly from the range, whole nanoseconds.
  public mutating func duration(in range: ClosedRange<Duration>) -> Duration {
    let low = range.lowerBound.wholeNanoseconds
    let high = range.upperBound.wholeNanoseconds
    return .nanoseconds(Int64.random(in: low...high, using: &self))
  }

  /// True with the given probability, 0 to 1.
  public mutating func chance(_ probability: Double) -> Bool {
    guard probability > 0 else { return false }
    return Double(next() >> 11) * 0x1p-53 < probability
  }
}
