/// Exponential and logarithm from + - * / alone: the same bits on every machine, which the
/// C library's are not. Within about one unit in the last place.
enum Elementary {
  /// ln 2 in two parts; the high part has 32 trailing zero bits, so that a whole multiple is exact.
  private static let naturalTwoHigh = 0x1.62e42feep-1
  private static let naturalTwoLow = 0x1.a39ef35793c76p-33

  /// e^x - 1 without loss near 0; for x from -700 to 700.
  static func exponentialMinusOne(_ x: Double) -> Double {
    let count = nearestInteger(x * 0x1.71547652b82fep0)
    let rest = (x - count * naturalTwoHigh) - count * naturalTwoLow
    let series = reducedExponentialMinusOne(rest)
    guard count != 0 else { return series }
    let power = powerOfTwo(Int(count))
    return power * series + (power - 1)
  }

  /// ln(1 + x) without loss near 0; for x over -1.
  static func logarithmOfOnePlus(_ x: Double) -> Double {
    precondition(x > -1, "the logarithm's argument is positive")
    if x > -0.25, x < 0.4 { return reducedLogarithmOfOnePlus(x) }
    let sum = 1 + x
    // What 1 + x rounded away, exact on both sides of 1.
    let lost = x.magnitude < 1 ? x - (sum - 1) : 1 - (sum - x)
    var mantissa = sum.significand
    var exponent = Double(sum.exponent)
    if mantissa > 0x1.6a09e667f3bcdp0 {
      mantissa *= 0.5
      exponent += 1
    }
    let low = exponent * naturalTwoLow + lost / sum
    return exponent * naturalTwoHigh + (reducedLogarithmOfOnePlus(mantissa - 1) + low)
  }

  /// Taylor to the 15th power; |x| is at most 0.35, where the next term is under 2^-66.
  private static func reducedExponentialMinusOne(_ x: Double) -> Double {
    var sum = 1.0 / 1_307_674_368_000
    var factorial = 1_307_674_368_000.0
    // A stride of integers: one of Doubles would multiply and add in one rounding.
    for degree in stride(from: 15, through: 3, by: -1) {
      factorial /= Double(degree)
      sum = sum * x + 1 / factorial
    }
    return x + x * x * sum
  }

  /// 2 artanh(x / (2 + x)) as a series; |x| is at most 0.42, so the ratio is at most 0.18.
  private static func reducedLogarithmOfOnePlus(_ x: Double) -> Double {
    let ratio = x / (2 + x)
    let square = ratio * ratio
    var sum = 1.0 / 23
    for odd in stride(from: 21, through: 3, by: -2) { sum = sum * square + 1 / Double(odd) }
    // ln(1 + x) = x - ratio * (x - 2 ratio^2 sum): the leading term stays exact.
    return x - ratio * (x - 2 * square * sum)
  }

  /// The nearest whole number, ties to even; |x| under 2^51.
  private static func nearestInteger(_ x: Double) -> Double { (x + 0x1.8p52) - 0x1.8p52 }

  private static func powerOfTwo(_ exponent: Int) -> Double {
    Double(sign: .plus, exponent: exponent, significand: 1)
  }
}
