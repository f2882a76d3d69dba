/// An adaptive estimate of the probability that a bit is set: the mean of a fast and a slow
/// estimate.
struct RangeModel: Hashable, Sendable {
  /// The fast estimate, in units of 2^-16.
  var fast: UInt16
  /// The slow estimate, in units of 2^-16.
  var slow: UInt16

  /// Creates a model in which both estimates start at the probability `start`, in units of 2^-16.
  @inline(__always) init(_ start: UInt16) {
    fast = start
    slow = start
  }

  /// The probability that the bit is set, in units of 2^-16. It never reaches 0 or 1, because each
  /// estimate stops changing before it gets there.
  @inline(__always) var probability: UInt64 { (UInt64(fast) + UInt64(slow)) >> 1 }

  /// Updates both estimates with an observed bit.
  @inline(__always) mutating func update(_ bit: Bool) {
    if bit {
      fast &+= (65_535 &- fast) >> 5
      slow &+= (65_535 &- slow) >> 8
    } else {
      fast &-= fast >> 5
      slow &-= slow >> 8
    }
  }
}
