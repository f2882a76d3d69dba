import CaromCore

extension SeededGenerator {
  /// Returns a uniformly distributed number from 0 up to but not including 1.
  mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Returns an exponentially distributed number with mean 1, at most 64. The method uses only
  /// comparisons (von Neumann 1951), so the result has the same bits on every platform.
  mutating func exponential() -> Double {
    for whole in 0..<64 {
      let first = unit()
      if isDescentOdd(from: first) { return Double(whole) + first }
    }
    return 64
  }

  /// Draws numbers until a number is not less than the one before it. Returns whether the length of
  /// the descending run, which begins with `first`, is odd.
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
