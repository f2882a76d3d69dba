/// A 16-bit floating-point number (IEEE 754 binary16), the shortest floating-point form of CBOR.
struct HalfFloat {
  let bits: UInt16

  init(bits: UInt16) { self.bits = bits }

  /// Creates the number that equals `value`, or returns nil if 16 bits cannot represent it. NaN is
  /// not supported.
  init?(exactly value: Double) {
    let sign = UInt16(truncatingIfNeeded: value.bitPattern >> 48) & 0x8000
    let magnitude = value.magnitude
    if magnitude == 0 || magnitude == .infinity {
      bits = sign | (magnitude == 0 ? 0 : 0x7C00)
      return
    }
    guard magnitude <= 65_504, magnitude >= 0x1p-24 else { return nil }
    // Subnormal numbers, below 2^-14, are multiples of 2^-24. Normal ones have 11 significant bits.
    let exponent = max(Int(magnitude.exponent), -14)
    let steps = magnitude * Self.power(10 - exponent)
    guard steps == steps.rounded(.towardZero) else { return nil }
    let mantissa = UInt16(steps)
    bits = sign | (mantissa < 1_024 ? mantissa : UInt16(exponent + 15) << 10 | (mantissa - 1_024))
  }

  var value: Double {
    let exponent = Int(bits >> 10 & 0x1F)
    let mantissa = Double(bits & 0x3FF)
    let magnitude: Double =
      switch exponent {
      case 0: mantissa * 0x1p-24
      case 31: mantissa == 0 ? .infinity : .nan
      default: (1_024 + mantissa) * Self.power(exponent - 25)
      }
    return bits & 0x8000 == 0 ? magnitude : -magnitude
  }

  /// Returns two to the power of `exponent`, exactly.
  private static func power(_ exponent: Int) -> Double {
    Double(sign: .plus, exponent: exponent, significand: 1)
  }
}
