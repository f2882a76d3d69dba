/// Exponential and logarithm functions that give the same bits on every platform, unlike the
/// functions of the C library. They use only addition, subtraction, multiplication and division.
/// The error is about one unit in the last place.
enum PortableMath {
  /// The high part of ln 2. It has 32 trailing zero bits, so its product with a small integer is
  /// exact.
  private static let ln2High = 0x1.62e42feep-1
  private static let ln2Low = 0x1.a39ef35793c76p-33

  /// Returns e^x - 1, accurate near 0, for x from -700 to 700.
  static func expMinusOne(_ x: Double) -> Double {
    let count = nearestInteger(x * 0x1.71547652b82fep0)
    let rest = (x - count * ln2High) - count * ln2Low
    let series = expMinusOneSeries(rest)
    guard count != 0 else { return series }
    let power = powerOfTwo(Int(count))
    return power * series + (power - 1)
  }

  /// Returns ln(1 + x), accurate near 0, for x greater than -1.
  static func log(onePlus x: Double) -> Double {
    precondition(x > -1, "the argument of a logarithm must be positive")
    if x > -0.25, x < 0.4 { return logSeries(onePlus: x) }
    let sum = 1 + x
    // This is the rounding error of 1 + x. Both forms are exact in their ranges.
    let lost = x.magnitude < 1 ? x - (sum - 1) : 1 - (sum - x)
    var mantissa = sum.significand
    var exponent = Double(sum.exponent)
    if mantissa > 0x1.6a09e667f3bcdp0 {
      mantissa *= 0.5
      exponent += 1
    }
    let low = exponent * ln2Low + lost / sum
    return exponent * ln2High + (logSeries(onePlus: mantissa - 1) + low)
  }

  /// Returns e^x - 1 by its Taylor series to the 15th power, for |x| up to 0.35, where the next
  /// term is below 2^-66.
  private static func expMinusOneSeries(_ x: Double) -> Double {
    var sum = 1.0 / 1_307_674_368_000
    var factorial = 1_307_674_368_000.0
    // The stride counts integers, since a stride of Doubles would use a fused multiply-add.
    for degree in stride(from: 15, through: 3, by: -1) {
      factorial /= Double(degree)
      sum = sum * x + 1 / factorial
    }
    return x + x * x * sum
  }

  /// Returns ln(1 + x) as the series of 2 artanh(x / (2 + x)). In the range of x that is used, the
  /// argument of artanh is at most 0.18 in magnitude.
  private static func logSeries(onePlus x: Double) -> Double {
    let ratio = x / (2 + x)
    let square = ratio * ratio
    var sum = 1.0 / 23
    for odd in stride(from: 21, through: 3, by: -2) { sum = sum * square + 1 / Double(odd) }
    // ln(1 + x) = x - ratio * (x - 2 ratio^2 sum) keeps the leading term exact.
    return x - ratio * (x - 2 * square * sum)
  }

  /// Rounds `x` to the nearest integer, with ties rounded to even, for |x| below 2^51.
  private static func nearestInteger(_ x: Double) -> Double { (x + 0x1.8p52) - 0x1.8p52 }

  private static func powerOfTwo(_ exponent: Int) -> Double {
    Double(sign: .plus, exponent: exponent, significand: 1)
  }
}
