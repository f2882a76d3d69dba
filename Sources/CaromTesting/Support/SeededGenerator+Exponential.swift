import CaromCore

extension SeededGenerator {
  /// Evenly from 0 up to and without 1.
  mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Exponentially distributed with mean 1, at most 64, by comparisons alone (von Neumann 1951),
  /// so that every machine draws the same bits.
  mutating func exponential() -> Double {
    for whole in 0..<64 {
      let first = unit()
      if isDescentOdd(from: first) { return Double(whole) + first }
    }
    return 64
  }

  /// Whether an odd number of draws goes down from `first` on, itself counted.
  private mutating func isDescentOdd(from first: Double) -> Bool {
    var last = first
    var isOdd = true
    for _ in 0..<64 {
      let next = unit()
      guard next < last else { break }
      last = next
      isOdd.toggle()
    }
    return isOdd
  }
}
