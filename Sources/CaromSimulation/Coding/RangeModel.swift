/// How probable a set bit is, learnt at two speeds: their mean counts.
struct RangeModel: Hashable, Sendable {
  /// Learns fast; in 2^-16.
  var fast: UInt16
  /// Learns slowly; in 2^-16.
  var slow: UInt16

  /// Starts at a probability in 2^-16.
  @inline(__always) init(_ start: UInt16) {
    fast = start
    slow = start
  }

  /// The probability of a set bit in 2^-16: 15 to 65,520.
  @inline(__always) var probability: UInt64 { (UInt64(fast) + UInt64(slow)) >> 1 }

  /// Learns from a bit.
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
